import numpy as np


def f(a):
    return a[0]["mass"]


args = (np.zeros(3, [("x", "f8"), ("y", "f8")]),)
