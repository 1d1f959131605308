def f(n):
    return {n} | [n]


args = (2,)
