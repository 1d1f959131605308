import numpy as np


def f(n):
    return np.zeros(n, order="F")


args = (4,)
