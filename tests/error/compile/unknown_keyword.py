import numpy as np


def f(n):
    return np.zeros(n, like=n)


args = (4,)
