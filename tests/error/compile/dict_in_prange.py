import unisono as un


def f(a):
    for i in un.prange(len(a)):
        d = {i: 1}
        a[i] = len(d)


args = (bytearray(4),)
