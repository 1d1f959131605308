def f(x):
    def g():
        nonlocal x
        x += 1
        return x

    try:
        return g()
    except ValueError:
        return x


args = (1,)
