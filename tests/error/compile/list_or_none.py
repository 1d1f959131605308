def f(items, n):
    found = None
    if n > 2:
        found = items
    return found


args = ([1, 2], 1)
