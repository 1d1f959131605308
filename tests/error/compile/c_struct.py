import unisono as un

c = un.c_module("typedef struct { double x, y; } Point; double norm(Point p) { return p.x; }")


def f(x):
    return c.norm((x, x, x))


args = (1.0,)
