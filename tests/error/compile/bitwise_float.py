def f(x):
    return x & 1


args = (2.5,)
