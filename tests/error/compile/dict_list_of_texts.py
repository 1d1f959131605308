def f(d):
    return list(d)


args = ({"a": 2},)
