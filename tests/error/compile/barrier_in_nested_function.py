import numpy as np
import unisono as un


@un.jit
def meet(x):
    un.barrier()
    return x


def f(a):
    def inner(x):
        return meet(x)

    a[un.global_id(0)] = inner(1.0)


args = (np.zeros(8),)
launch = (8, 4)
