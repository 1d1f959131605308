def made(text):
    scope = {}
    exec(compile(text, "<made>", "exec"), scope)
    return scope["g"]


g = made("def g(n):\n    try: return n + 1\n    finally: print(n)")


def f(n):
    return g(n)


args = (1,)
