def f(n):
    x = 1
    try:
        x = (n, n)
    except ValueError:
        pass
    return x


args = (1,)
