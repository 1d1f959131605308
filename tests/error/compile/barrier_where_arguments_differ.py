import numpy as np
import unisono as un


@un.jit
def together(n):
    for _ in range(n):
        un.barrier()


def f(a):
    together(4)
    together(un.local_id(0))
    a[0] = 1


args = (np.zeros(8),)
launch = (8, 4)
