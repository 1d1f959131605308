def f(a):
    s = f"{a}"
    return a


args = (1,)
