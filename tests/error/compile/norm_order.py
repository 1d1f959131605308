import numpy as np


def f(a):
    return np.linalg.norm(a, 1)


args = (np.zeros(4),)
