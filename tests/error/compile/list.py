def f(n):
    a = [n, 1]
    return a[0]


args = (1,)
