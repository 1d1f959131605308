import unisono as un


def f(n):
    with un.python():
        text = str(n)
    return text


args = (1,)
