def f(n):
    return ord(n)


args = (1,)
