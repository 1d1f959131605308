def f(n):
    s = "abc"
    if n > 2:
        s = 4
    return s


args = (3,)
