def f(s):
    return s.format_map({})


args = ("abc",)
