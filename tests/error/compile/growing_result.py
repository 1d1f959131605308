import unisono as un


@un.jit
def f(n):
    if n <= 0:
        return None
    return n, f(n - 1)


args = (3,)
