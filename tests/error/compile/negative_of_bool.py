import numpy as np


def f(a):
    return -a[0]


args = (np.array([True]),)
