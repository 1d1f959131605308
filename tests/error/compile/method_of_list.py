def f(n):
    xs = [n]
    xs.frobnicate()
    return xs


args = (1,)
