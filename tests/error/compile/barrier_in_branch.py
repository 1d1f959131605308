import numpy as np
import unisono as un


def f(a):
    i = un.global_id(0)
    if i > 3:
        un.barrier()
    a[i] = i


args = (np.zeros(8),)
launch = (8, 4)
