def f(x):
    return 1 << x


args = (1.5,)
