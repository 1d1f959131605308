def f(n):
    if n > 0:
        raise
    return n


args = (1,)
