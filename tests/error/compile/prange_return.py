import unisono as un


def f(n):
    for i in un.prange(n):
        if i == 2:
            return i
    return 0


args = (4,)
