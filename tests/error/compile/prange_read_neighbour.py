import numpy as np
import unisono as un


def f(a):
    for i in un.prange(1, a.shape[0]):
        a[i] = a[i - 1] + 1


args = (np.zeros(5),)
