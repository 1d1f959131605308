import numpy as np


def f(a):
    raise ValueError(f"got {a}")


args = (np.zeros(3),)
