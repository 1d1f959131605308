import unisono as un


@un.jit
def g(xs):
    xs.append(1)


def f(n):
    xs = [n]
    g(xs)
    return xs


args = (1,)
