import numpy as np
import unisono as un


def f(out):
    for i in un.prange(len(out)):
        out[i] = np.zeros(i, like=out).sum()


args = (np.zeros(2),)
