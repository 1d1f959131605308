import numpy as np


def f(a):
    return np.mean(a, axis=(0, -2))


args = (np.zeros((2, 2)),)
