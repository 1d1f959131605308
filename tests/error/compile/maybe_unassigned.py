def f(n):
    if n > 0:
        sign = 1
    return sign


args = (1,)
