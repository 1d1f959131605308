import unisono as un


def f(n):
    s = 0
    for i in un.prange(0, n, 0):
        s += i
    return s


args = (3,)
