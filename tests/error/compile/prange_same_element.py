import numpy as np
import unisono as un


def f(a, b):
    for i in un.prange(len(a)):
        b[0] = a[i]


args = (np.zeros(4), np.zeros(1))
