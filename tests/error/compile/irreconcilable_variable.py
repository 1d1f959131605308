def f(n):
    found = False
    if n > 2:
        found = n
    return found


args = (1,)
