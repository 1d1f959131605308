def f(n):
    return n + 1000000000000000000000


args = (1,)
