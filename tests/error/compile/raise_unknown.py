def f(n):
    raise n.Error("text")


args = (3,)
