import numpy as np


def f(a):
    return a.max(axis=2)


args = (np.zeros((2, 2)),)
