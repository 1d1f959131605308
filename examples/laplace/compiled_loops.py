"""Loops compiled by un.jit: those of python_loops.py as they stand and with declared types, and with un.prange."""

import unisono as un

from .method import Method
from .python_loops import solve


def solve_in_parallel(u, u_new):
    for y in un.prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4


class CompiledLoops(Method):
    """A compiled function on NumPy arrays."""

    def __init__(self, name, order, function):
        self.name, self.order = name, order
        self.step = un.jit(function)

    def place(self, u):
        return u.copy()


class TypedLoops(CompiledLoops):
    """The loops of python_loops.py, compiled ahead of the first call for the types that are declared."""

    def __init__(self):
        super().__init__("typed loops", "loops", solve)

    def place(self, u):
        self.step = un.jit(f"void({u.dtype}[:, ::1], {u.dtype}[:, ::1])")(solve)
        return super().place(u)


def methods():
    yield CompiledLoops("@un.jit loops", "loops", solve)
    yield TypedLoops()
    yield CompiledLoops("un.prange loops", "slices", solve_in_parallel)
