def f(x, y=None):
    return x + y


args = (1,)
