def f(x):
    return x[0]


args = (3,)
