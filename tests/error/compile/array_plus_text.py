import numpy as np


def f(a):
    return a + "1"


args = (np.zeros(3),)
