import numpy as np
import unisono as un


def f(a):
    with un.tasks():
        with un.task():
            return a[0]


args = (np.zeros(4),)
