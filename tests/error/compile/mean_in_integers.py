import numpy as np
import unisono as un


def f(a, out):
    for i in un.prange(len(out)):
        out[i] = np.mean(a, dtype=np.int64)


args = (np.zeros((2, 2)), np.zeros(2))
