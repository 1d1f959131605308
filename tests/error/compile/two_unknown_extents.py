import numpy as np


def f(a):
    return a.reshape(-1, -1)


args = (np.zeros((2, 2)),)
