def f(n):
    name = "abc"
    return name + n


args = (3,)
