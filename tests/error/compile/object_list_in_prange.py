import unisono as un


def f(names):
    for i in un.prange(3):
        names[i] = "a"


args = (["b"],)
