import numpy as np
import unisono as un


def f(a, out):
    for i in un.prange(len(out)):
        out[i] = np.sum(a, where=a > 1)


args = (np.zeros((2, 2)), np.zeros(2))
