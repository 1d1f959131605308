def f(t):
    n = 0
    for x in t:
        if n > 1:
            break
        n += 1 if isinstance(x, str) else 2
    return n


args = ((1, "a"),)
