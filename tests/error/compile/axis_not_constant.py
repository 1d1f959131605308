import numpy as np


def f(a, axis):
    return np.sum(a, axis=axis)


args = (np.zeros((2, 2)), 1)
