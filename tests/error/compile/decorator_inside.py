import contextlib


def f(n):
    @contextlib.contextmanager
    def g(i):
        return i + 1

    return g(n)


args = (3,)
