def f(n):
    a = [1]
    b = a
    if n > 3:
        b = [2]
    b.append(3)
    return a, b


args = (1,)
