def f(n):
    name = "abc"
    return len(name) + n


args = (1,)
