def f(x):
    class A:
        pass

    return x


args = (1,)
