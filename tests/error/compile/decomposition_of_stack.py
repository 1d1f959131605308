import numpy as np
import unisono as un


def f(a, out):
    for i in un.prange(len(out)):
        out[i] = np.linalg.inv(a)[0, 0, 0]


args = (np.zeros((2, 2, 2)), np.zeros(2))
