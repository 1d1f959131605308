import numpy as np


def f(a, b, n):
    c = a
    if n > 2:
        c = b
    return c


args = (np.zeros(4), np.zeros((4, 2)), 3)
