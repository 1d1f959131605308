def f(n):
    for i in range(n):
        last = [i]
    return last


args = (1,)
