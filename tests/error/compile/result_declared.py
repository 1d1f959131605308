def f(n) -> int:
    return n / 2


args = (3,)
