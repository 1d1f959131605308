def f(n):
    a, *b, c = (n,)
    return a


args = (1,)
