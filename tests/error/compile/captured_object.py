class Thing:
    x = 1


THING = Thing()


def f(x):
    return THING.x + x


args = (1,)
