def f(x, y):
    return x ^ y


args = (1.5, 2)
