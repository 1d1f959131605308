def f(x):
    s = 0
    for i in range(0, x, 0):
        s += i
    return s


args = (3,)
