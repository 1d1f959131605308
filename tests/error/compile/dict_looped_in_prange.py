import unisono as un


def f(a, d):
    for i in un.prange(len(a)):
        for k in d:
            a[i] = k


args = (bytearray(4), {1: 2})
