def f(t, i):
    return t[i]


args = ((1, True), 1)
