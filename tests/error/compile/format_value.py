def f(a, n):
    s = f"{a:{n}}"
    return s


args = (1, 2)
