def f(n):
    items = list((n, 1))
    rows = {0: items}
    items.append(2)
    return rows


args = (1,)
