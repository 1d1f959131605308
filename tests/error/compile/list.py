def f(n):
    a = [(n, 1), (1, 2)]
    return a[0]


args = (1,)
