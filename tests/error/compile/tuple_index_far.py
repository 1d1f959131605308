def f(t):
    return t[5]


args = ((1, 2),)
