"""Cooperative groups of Numba's CUDA: the grid as a group whose threads meet.

A kernel that names `this_grid`, or calls functions that do, is launched as one group of all its threads: ``threadIdx``,
``blockIdx`` and their like follow from the size of its blocks. Devices run it as several kernels, cut where the grid meets.
"""

from __future__ import annotations

import dataclasses
import types

from .._engine import CompileError
from .._jit.source import names_of
from .words import _only_in_kernels

__all__ = ["GridGroup", "this_grid"]

_OF_BLOCKS = {"threadIdx", "blockIdx", "blockDim", "gridDim", "syncthreads", "shared"}


@dataclasses.dataclass(frozen=True)
class GridGroup:
    """All threads of a launch; made by `this_grid`."""

    handle: int = 1

    def sync(self):
        """Wait until all threads of the grid are here, their writes seen (inside of a kernel)."""
        _grid_barrier()


def _grid_barrier():
    _only_in_kernels("cg.this_grid().sync")


def this_grid():
    """The group of all threads of the launch (inside of a kernel).

    Returns
    -------
    GridGroup
        With `sync`.

    Raises
    ------
    RuntimeError
        Called from Python.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.jit
    ... def rows(m):
    ...     column = cuda.grid(1)
    ...     g = cuda.cg.this_grid()
    ...     for row in range(1, m.shape[0]):
    ...         m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
    ...         g.sync()
    >>> m = np.zeros((3, 8), np.int32)
    >>> rows[2, 4](m)
    >>> m[2].tolist()
    [2, 2, 2, 2, 2, 2, 2, 2]
    """
    _only_in_kernels("cg.this_grid")


def spans_the_grid(function):
    """Whether a kernel, or a function that it calls, names `this_grid`."""
    seen = {}
    _look(function, seen)
    if not any("this_grid" in names for names in seen.values()):
        return False
    for callee, names in seen.items():
        asked = sorted(_OF_BLOCKS & names)
        if asked and callee is not function:
            raise CompileError(
                f"{function.__name__}: a kernel that synchronises the grid runs as one group; got '{asked[0]}' in "
                f"{callee.__name__}, which it calls; ask for it in the kernel and pass it as an argument"
            )
    return True


def _look(function, seen):
    names = set(names_of(function.__code__))
    seen[function] = names
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}
    for name in names | held.keys():
        value = held.get(name, function.__globals__.get(name))
        value = getattr(value, "py_func", value)
        if isinstance(value, types.FunctionType) and value not in seen:
            _look(value, seen)
