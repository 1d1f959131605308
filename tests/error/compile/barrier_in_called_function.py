import numpy as np
import unisono as un


@un.jit
def together(x):
    un.barrier()
    return x


def f(a):
    i = un.global_id(0)
    if i > 3:
        a[i] = together(a[i])


args = (np.zeros(8),)
launch = (8, 4)
