def f(x):
    r = range(x)
    return r


args = (3,)
