class Odd(Exception):
    pass


def f(x):
    raise Odd()


args = (3,)
