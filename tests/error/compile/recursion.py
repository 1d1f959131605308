import unisono as un


@un.jit
def f(n):
    return n * f(n - 1) if n > 1 else 1


args = (3,)
