def g(n):
    return n + 1


def f(n):
    return g(n)


args = (1,)
