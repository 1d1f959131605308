def f(items, n):
    if n > 2:
        return items


args = ([1, 2], 1)
