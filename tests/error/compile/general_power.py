def f(x, n):
    return x**n


args = (2.0, 3)
