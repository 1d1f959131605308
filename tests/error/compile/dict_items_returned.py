def f(d):
    return d.items()


args = ({"a": 2},)
