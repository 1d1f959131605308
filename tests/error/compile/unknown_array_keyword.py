import numpy as np


def f(a):
    return np.sum(a, where=a > 1)


args = (np.zeros((2, 2)),)
