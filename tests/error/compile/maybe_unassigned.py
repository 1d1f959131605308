def f(n):
    if n > 0:
        signs = [1]
    return signs


args = (1,)
