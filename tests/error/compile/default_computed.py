def f(x):
    def g(y=x + 1):
        return y

    return g()


args = (1,)
