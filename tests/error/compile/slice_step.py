import numpy as np


def f(a, n):
    return a[::n]


args = (np.zeros(4), 3)
