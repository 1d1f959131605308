import unisono as un

c = un.c_module("double twice(double (*f)(double), double x) { return f(f(x)); }")


def f(x):
    return c.twice(lambda v: v + x, x)


args = (1.0,)
