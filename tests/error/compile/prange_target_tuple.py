import unisono as un


def f(a):
    for i, x in un.prange(3):
        a[i] = x


args = (3,)
