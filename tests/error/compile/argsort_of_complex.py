import numpy as np


def f(a):
    return np.argsort(a * 1j)


args = (np.zeros((2, 2)),)
