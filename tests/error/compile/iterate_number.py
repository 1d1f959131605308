def f(n):
    s = 0
    for i in n:
        s += i
    return s


args = (5,)
