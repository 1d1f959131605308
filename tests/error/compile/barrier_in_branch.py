import numpy as np
import unisono as un


def f(a, n):
    i = un.global_id(0)
    if i > 3:
        for k in range(n):
            un.barrier()
            if a[i] > k:
                break
    a[i] = i


args = (np.zeros(8), 3)
launch = (8, 4)
