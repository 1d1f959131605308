def f(t):
    a, b, c = t
    return a


args = ((1, 2),)
