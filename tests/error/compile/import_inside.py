def f(n):
    import math

    return math.sqrt(n)


args = (3,)
