def f(t, i):
    return t[i]


args = ((1, 2), 1)
