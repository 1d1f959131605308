def f(n):
    xs = [1, 2]
    xs.append(n > 3)
    return xs


args = (1,)
