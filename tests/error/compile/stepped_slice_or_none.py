def f(a, n):
    end = None
    if n > 2:
        end = n
    return a[:end:2]


args = ([1.0, 2.0], 1)
