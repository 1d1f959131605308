def f(n):
    d: dict[str, int] = {1: n}
    return d


args = (2,)
