def f(x):
    return x(1)


args = (3,)
