def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def f(x):
    op = add if x > 2 else sub
    return op


args = (3,)
