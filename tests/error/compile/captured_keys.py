NUMBER = {1: 2}.keys()


def f(x):
    return x in NUMBER


args = (1,)
