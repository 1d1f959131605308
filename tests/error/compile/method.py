import numpy as np


def f(a):
    return a.tolist()


args = (np.zeros(4),)
