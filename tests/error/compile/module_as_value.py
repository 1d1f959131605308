import math


def f(x):
    m = math
    return m.sqrt(x)


args = (1.0,)
