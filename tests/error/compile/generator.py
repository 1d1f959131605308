import unisono as un


@un.jit
def numbers(n):
    yield n
    return


def f(n):
    s = 0
    for x in numbers(n):
        s += x
    return s


args = (3,)
