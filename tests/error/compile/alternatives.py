def f(n):
    return n if n > 2 else n > 1


args = (4,)
