COUNT = 0


def f(n):
    global COUNT
    COUNT += n
    return COUNT


args = (3,)
