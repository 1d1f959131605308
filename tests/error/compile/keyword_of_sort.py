import numpy as np


def f(x):
    x.sort(reverse=True)
    return x


args = (np.ones(3),)
