import numpy as np


def f(a, x):
    return a[: x / 2]


args = (np.zeros(4), 3)
