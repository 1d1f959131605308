import numpy as np
import unisono as un


def f(a, s):
    for i in un.prange(3):
        t = s + "!"
        a[i] = len(t)


args = (np.zeros(3), "abc")
