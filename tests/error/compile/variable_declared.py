def f(x):
    n: int = 0
    n = x * 0.5
    return n


args = (3,)
