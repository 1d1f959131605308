def f(x):
    d = {1: x}
    return d[1]


args = (1,)
