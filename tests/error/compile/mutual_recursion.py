import unisono as un


@un.jit
def odd(n):
    return n > 0 and f(n - 1)


@un.jit
def f(n):
    return n == 0 or odd(n - 1)


args = (3,)
