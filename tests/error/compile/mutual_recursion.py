import unisono as un


@un.jit
def odd(other, n):
    return n > 0 and other(odd, n - 1)


@un.jit
def f(other, n):
    return n == 0 or other(f, n - 1)


args = (odd, 3)
