import numpy as np


def f(a):
    a[0] = np.sum(a)


args = (np.zeros(4),)
launch = ((8,), (1,))
