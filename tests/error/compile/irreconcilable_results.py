def f(n):
    if n > 2:
        return 1, 2
    return 0


args = (1,)
