import unisono as un


def f(n):
    xs = [0]
    for i in un.prange(n):
        xs.append(i)
    return xs


args = (10,)
