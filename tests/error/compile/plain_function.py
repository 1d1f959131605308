def made(text):
    scope = {}
    exec(text, scope)
    return scope["g"]


g = made("def g(n): return n + 1")


def f(n):
    return g(n)


args = (1,)
