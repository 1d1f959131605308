def f(n):
    if n > 2:
        return n


args = (1,)
