def f(n):
    a = [(n, 1), (1, 2)]
    a.append(3)
    return a[0]


args = (1,)
