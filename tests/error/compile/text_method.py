def f(s):
    return s.split(",")


args = ("abc",)
