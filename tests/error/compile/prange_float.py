import unisono as un


def f(x):
    s = 0
    for i in un.prange(x):
        s += i
    return s


args = (3.5,)
