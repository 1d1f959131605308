def f(x):
    s = 0
    for i in range(x / 2):
        s += i
    return s


args = (3,)
