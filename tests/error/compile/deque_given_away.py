from collections import deque


def f(n):
    d = deque([n])
    return d


args = (6,)
