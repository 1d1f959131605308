import numpy as np
import unisono as un


def f(a):
    i = un.global_id(0)
    for k in range(4):
        un.barrier()
        if a[i] > k:
            break
    a[i] = i


args = (np.zeros(8),)
launch = (8, 4)
