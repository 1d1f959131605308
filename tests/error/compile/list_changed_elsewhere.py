import unisono as un


@un.jit
def grow(xs):
    xs.append(1)


@un.jit
def apply(change, xs):
    change(xs)


def f(xs):
    apply(grow, xs)
    return len(xs)


args = ([1, 2],)
