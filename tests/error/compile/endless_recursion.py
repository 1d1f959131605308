import unisono as un


@un.jit
def f(n):
    return f(n + 1)


args = (3,)
