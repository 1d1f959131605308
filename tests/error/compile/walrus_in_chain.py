def f(x):
    return 1 < x < (y := x * 2) and y < 9


args = (3,)
