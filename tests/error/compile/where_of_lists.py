import numpy as np


def f(a):
    return np.where([[1, 0], [0, 1]], a, 0.0)


args = (np.zeros((2, 2)),)
