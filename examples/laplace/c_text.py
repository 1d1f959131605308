"""The sweep in C, compiled in memory by un.c_module: no compiler is installed."""

import unisono as un

from .method import Method

SOURCE = """
void solve(const REAL *u, REAL *u_new, int height, int width)
{
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++)
            u_new[y * width + x] = ((u[(y - 1) * width + x] + u[(y + 1) * width + x]) +
                                    (u[y * width + x - 1] + u[y * width + x + 1])) / 4;
}
"""


class CText(Method):
    """A function in C, called with NumPy's arrays."""

    name = "C by un.c_module"

    def place(self, u):
        real = {"float32": "float", "float64": "double"}[u.dtype.name]
        self.module = un.c_module(SOURCE.replace("REAL", real))
        return u.copy()

    def step(self, u, u_new):
        self.module.solve(u, u_new, *u.shape)


def methods():
    yield CText()
