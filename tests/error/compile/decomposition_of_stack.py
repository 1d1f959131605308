import numpy as np


def f(a):
    return np.linalg.inv(a)


args = (np.zeros((2, 2, 2)),)
