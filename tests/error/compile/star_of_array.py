import unisono as un


@un.jit
def g(a, b):
    return a + b


def f(a):
    return g(*a)


import numpy as np  # noqa: E402

args = (np.zeros(2),)
