import numpy as np
import unisono as un


def f(a, n):
    i = un.global_id(0)
    for k in range(3):
        un.barrier()
        if i >= n:
            return
        a[i] += k


args = (np.zeros(8), 3)
launch = (8, 4)
