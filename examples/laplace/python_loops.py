"""Plain loops in Python; the same function is compiled in compiled_loops.py."""

from .method import Method


def solve(u, u_new):
    dim_y = u.shape[0]
    dim_x = u.shape[1]
    for y in range(1, dim_y - 1):
        for x in range(1, dim_x - 1):
            u_new[y, x] = (u[y + 1, x] + u[y - 1, x] + u[y, x + 1] + u[y, x - 1]) / 4


class PythonLoops(Method):
    """Loops run by CPython on NumPy arrays: too slow to reach convergence, timed on few sweeps."""

    name = "Python loops"
    order = "loops"
    sweeps_cheaply = False
    step = staticmethod(solve)

    def place(self, u):
        return u.copy()


def methods():
    yield PythonLoops()
