def f(a):
    return a[0] ** -2


import numpy as np  # noqa: E402

args = (np.arange(3),)
