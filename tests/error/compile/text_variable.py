def f(n):
    s = "abc"
    return n


args = (3,)
