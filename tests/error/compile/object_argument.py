def f(x):
    return abs(x, 2)


args = (1,)
