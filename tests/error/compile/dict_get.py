def f(d):
    return d.get("b")


args = ({"a": 2},)
