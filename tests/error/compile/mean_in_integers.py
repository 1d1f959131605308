import numpy as np


def f(a):
    return np.mean(a, dtype=np.int64)


args = (np.zeros((2, 2)),)
