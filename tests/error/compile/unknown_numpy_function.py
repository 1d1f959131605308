import numpy as np


def f(x):
    return np.fft.fft(x)


args = (1.0,)
