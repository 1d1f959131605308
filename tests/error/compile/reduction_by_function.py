import numpy as np
import unisono as un


@un.jit
def larger(a, b):
    return a if a > b else b


def f(a):
    best = 0
    for i in un.prange(len(a)):
        best = larger(best, a[i])
    return best


args = (np.zeros(4),)
