import numpy as np


def f(a):
    return np.concatenate((a, a[0]))


args = (np.zeros((2, 2)),)
