def f(a, n):
    s = f"{a!a}"
    return s


args = (1, 2)
