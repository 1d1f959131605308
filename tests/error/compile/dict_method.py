def f(d):
    return d.fromkeys((1, 2))


args = ({"a": 2},)
