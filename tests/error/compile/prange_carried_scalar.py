import numpy as np
import unisono as un


def f(a):
    last = 0.0
    for i in un.prange(len(a)):
        a[i] = a[i] - last
        last = a[i]


args = (np.zeros(4),)
