import unisono as un


@un.jit
def g(a, b):
    return a + b


def f(x):
    return g(x, 1, 2)


args = (1,)
