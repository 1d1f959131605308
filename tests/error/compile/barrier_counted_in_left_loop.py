import numpy as np
import unisono as un


def f(a):
    i = un.global_id(0)
    n = 0
    for k in range(4):
        if a[i] > k:
            continue
        n += 1
    while n > 0:
        un.barrier()
        n -= 1
    a[i] = i


args = (np.zeros(8),)
launch = (8, 4)
