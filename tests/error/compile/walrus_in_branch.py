def f(x):
    return x > 1 and (y := x * 2) > 3 and y < 9


args = (3,)
