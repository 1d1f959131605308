def f(x):
    return x < "a"


args = (1,)
