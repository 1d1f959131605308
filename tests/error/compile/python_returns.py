import unisono as un


def f(n):
    with un.python():
        return n + 1


args = (1,)
