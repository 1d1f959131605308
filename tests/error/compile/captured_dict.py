TABLE = {1: 2}


def f(x):
    return TABLE[x]


args = (1,)
