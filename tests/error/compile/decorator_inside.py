import functools


def f(x):
    @functools.cache
    def g(y):
        return y

    return g(x)


args = (1,)
