import random


def f(n):
    return random.randint(1, n)


args = (6,)
