import unisono as un


def f(n):
    for i in un.prange(n):
        with un.python():
            print(i)


args = (1,)
