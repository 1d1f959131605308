import numpy as np


def f(a):
    made = [a, a]
    return made == [a]


args = (np.zeros(3),)
