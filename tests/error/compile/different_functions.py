def f(x):
    if x > 1:
        g = abs
    else:
        g = float
    return g(x)


args = (1,)
