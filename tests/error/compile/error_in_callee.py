import unisono as un


@un.jit
def g(x):
    return x.shape


def f(x):
    return g(x) + 1


args = (3,)
