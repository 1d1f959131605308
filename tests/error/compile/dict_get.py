def f(d):
    return d.setdefault("b")


args = ({"a": 2},)
