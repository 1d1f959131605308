def f(n):
    s = {n}
    return s[0]


args = (2,)
