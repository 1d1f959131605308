def f(a, b, c, d, e):
    raise ValueError(f"{a} {b} {c} {d} {e}")


args = (1, 2, 3, 4, 5)
