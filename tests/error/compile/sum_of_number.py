def f(x):
    return sum(x)


args = (3,)
