import numpy as np


def f(a, b):
    return a + b


args = (np.zeros(4), np.zeros(4))
