def f(n):
    for i in range(n):
        pass

    def shifted(x):
        return x + i

    return shifted(n)


args = (1,)
