import numpy as np
import unisono as un


def f(a, out, axis):
    for i in un.prange(len(out)):
        out[i] = np.sum(a, axis=axis)[0]


args = (np.zeros((2, 2)), np.zeros(2), 1)
