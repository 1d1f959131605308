import unisono as un


def f(n):
    s = 0
    for i in un.prange(n):
        s += i
    else:
        s = 3
    return s


args = (1,)
