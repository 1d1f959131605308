import numpy as np


def f(a):
    a += 0.5


args = (np.zeros(4, np.int64),)
