def f(x):
    return min(x)


args = ((),)
