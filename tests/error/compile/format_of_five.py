import unisono as un


def f(a, b, c, d, e):
    for i in un.prange(3):
        raise ValueError(f"{a} {b} {c} {d} {e}")


args = (1, 2, 3, 4, 5)
