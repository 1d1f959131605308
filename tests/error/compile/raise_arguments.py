def f(n):
    raise ValueError("got", (n, n), [n])


args = (3,)
