def f(t):
    t[0] = 1
    return t


args = ((1, 2),)
