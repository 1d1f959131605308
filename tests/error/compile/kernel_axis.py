import numpy as np
import unisono as un


def f(a):
    a[un.global_id(1)] = 1


args = (np.zeros(8),)
launch = ((8,), (1,))
