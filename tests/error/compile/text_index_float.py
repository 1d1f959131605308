def f(s, x):
    return s[x]


args = ("abc", 1.5)
