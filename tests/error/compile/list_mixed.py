def f(x):
    return [x, True]


args = (1,)
