def f(n: int):
    return n


args = (1.5,)
