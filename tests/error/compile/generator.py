import unisono as un


@un.jit
def numbers(n):
    try:
        yield n
    finally:
        pass


def f(n):
    s = 0
    for x in numbers(n):
        s += x
    return s


args = (3,)
