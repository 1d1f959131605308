import numpy as np


def f(a):
    return a[0] // a[1]


args = (np.array([True, True]),)
