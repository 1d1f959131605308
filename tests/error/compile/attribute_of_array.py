import numpy as np


def f(a):
    return a.flags


args = (np.zeros(3),)
