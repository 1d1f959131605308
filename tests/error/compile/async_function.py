async def f(x):
    return x


args = (1.0,)
