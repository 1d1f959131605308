import numpy as np
import unisono as un


def f(a):
    t = 0.0
    for i in un.prange(len(a)):
        t = a[i]
        a[i] = 2 * t
    return t


args = (np.zeros(4),)
