def f(x):
    return "a" ** x


args = (3,)
