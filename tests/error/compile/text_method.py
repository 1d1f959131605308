def f(s):
    return s.partition(",")


args = ("abc",)
