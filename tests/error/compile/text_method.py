def f(s):
    return s.encode("latin-1")


args = ("abc",)
