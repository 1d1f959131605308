def f(x):
    s = 0
    for i in reversed(x):
        s += i
    return s


args = (3,)
