import numpy as np
import unisono as un


def f(a, out):
    for i in un.prange(len(out)):
        out[i] = np.linalg.norm(a, 1, 0)


args = (np.zeros(4), np.zeros(2))
