def f(s):
    s[0] = "x"
    return s


args = ("abc",)
