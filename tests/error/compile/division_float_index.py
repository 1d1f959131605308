import numpy as np


def f(a, n):
    return a[n / 2]


args = (np.zeros(3), 2)
