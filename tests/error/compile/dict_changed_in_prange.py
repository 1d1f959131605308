import unisono as un


def f(n):
    d = {0: 0}
    for i in un.prange(n):
        d[i] = i
    return d


args = (2,)
