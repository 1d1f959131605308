def f(n):
    d = {"a": n}
    d["b"] = "text"
    return d


args = (2,)
