def f(x):
    x[0] = 1
    return x


args = (3,)
