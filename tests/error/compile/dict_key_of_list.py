def f(n):
    d = {}
    d[[n]] = 1
    return d


args = (2,)
