import numpy as np


def f(x):
    return np.sinus(x)


args = (1.0,)
