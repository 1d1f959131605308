def f(n):
    return len(n)


args = (3,)
