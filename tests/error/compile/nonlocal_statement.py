def f(x):
    def g():
        nonlocal x
        x += 1
        return x

    return g()


args = (1,)
