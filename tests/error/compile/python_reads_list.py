import unisono as un


def f(n):
    x = [n, n]
    with un.python():
        print(x)


args = (1,)
