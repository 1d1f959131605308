def f(xs, n):
    b = xs
    if n > 3:
        b = [2]
    return b


args = ([1], 1)
