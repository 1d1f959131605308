import unisono as un


@un.jit
def grow(xs):
    xs.append(1)


def f(xs):
    grow(xs)
    return len(xs)


args = ([1, 2],)
