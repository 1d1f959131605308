def f(x):
    raise ValueError("a") from None


args = (3,)
