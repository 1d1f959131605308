def f(x):
    return any(x)


args = (3,)
