import numpy as np
import unisono as un
from unisono import cuda


@un.jit
def swap(x):
    a = cuda.local.array(4, np.float64)
    b = cuda.local.array(4, np.float64)
    for k in range(2):
        c = a if k == 0 else b
        c[0] = x[k]
        x[k] = c[0] + 1


def f(x):
    swap(x)


args = (np.zeros(4),)
launch = ((8,), (1,))
