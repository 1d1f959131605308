import numpy as np


def f(a):
    if a:
        return 1
    return 0


args = (np.zeros(3),)
