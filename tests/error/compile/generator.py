def f(n):
    yield n


args = (3,)
