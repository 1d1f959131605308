import numpy as np


def f(a):
    return a[a * 0.5]


args = (np.zeros(4),)
