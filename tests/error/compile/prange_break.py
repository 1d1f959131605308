import unisono as un


def f(n):
    for i in un.prange(n):
        if i > 3:
            break


args = (3,)
