import unisono as un


def f(x):
    @un.jit
    def g(y):
        return y

    return g(x)


args = (1,)
