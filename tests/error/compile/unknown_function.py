import os


def f(n):
    return os.getpid() + n


args = (1,)
