def f(t):
    a, b = t
    return a + b


args = ((1, 2, 3),)
