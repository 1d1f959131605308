def f(n):
    for i in range(n):
        pass
    else:
        n = 3
    return n


args = (1,)
