import numpy as np


def f(a):
    s = 0.0
    for x in a:
        s += x
    return s


args = (np.zeros(4),)
