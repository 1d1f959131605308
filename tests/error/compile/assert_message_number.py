def f(n):
    assert n > 2, n
    return n


args = (4,)
