import unisono as un


@un.jit
def numbers(n):
    try:
        yield n
        yield n + 1
    except ValueError:
        yield 0


def f(n):
    s = 0
    for x in numbers(n):
        s += x
    return s


args = (3,)
