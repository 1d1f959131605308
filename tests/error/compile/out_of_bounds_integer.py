import numpy as np


def f(a):
    return a[0] + 300


args = (np.zeros(3, np.uint8),)
