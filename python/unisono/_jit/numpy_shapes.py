"""Functions of NumPy that give arrays more axes or turn them, which compiled code calls."""

from __future__ import annotations

import numpy as np

from . import jit
from .numpy_elements import these_arguments


@jit
def atleast_1d(ary):
    if np.ndim(ary) > 0:
        return ary
    return np.full(1, ary)


@jit
def atleast_2d(ary):
    if np.ndim(ary) > 1:
        return ary
    if np.ndim(ary) == 1:
        return ary[None, :]
    return np.full((1, 1), ary)


@jit
def atleast_3d(ary):
    if np.ndim(ary) > 2:
        return ary
    if np.ndim(ary) == 2:
        return ary[:, :, None]
    if np.ndim(ary) == 1:
        return ary[None, :, None]
    return np.full((1, 1, 1), ary)


@jit
def dstack(tup):
    if np.ndim(tup[0]) > 2:
        return np.concatenate(tup, axis=2)
    if np.ndim(tup[0]) == 2:
        return np.stack(tup, axis=2)
    if np.ndim(tup[0]) == 1:
        return np.stack(tup, axis=1)[None]
    return these_arguments()


@jit
def rot90(m, k=1):
    if m.ndim != 2:
        return these_arguments()
    turns = k % 4
    if turns == 0:
        return m[:, :]
    if turns == 1:
        return m.T[::-1]
    if turns == 2:
        return m[::-1, ::-1]
    return m[::-1].T


implementations = {f.__name__: f for f in (atleast_1d, atleast_2d, atleast_3d, dstack, rot90)}
