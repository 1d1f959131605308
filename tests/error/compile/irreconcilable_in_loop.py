import numpy as np


def f(a, b):
    s = a[0]
    for i in range(len(b)):
        s = b[i]
    return s


args = (np.zeros(2, np.uint64), np.zeros(2, np.int64))
