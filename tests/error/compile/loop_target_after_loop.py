def f(n):
    for i in range(n):
        pass
    return i


args = (1,)
