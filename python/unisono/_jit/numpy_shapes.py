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
def _common_shape(p, q):
    """The shape of two arrays together."""
    if len(p) < len(q):
        return _common_shape(q, p)
    elif len(q) == 0:
        return p
    else:
        a = p[-1]
        b = q[-1]
        if a != b and a != 1 and b != 1:
            raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
        return (*_common_shape(p[:-1], q[:-1]), a if b == 1 else b)


@jit
def _common_of(shapes):
    if len(shapes) == 0:
        return ()
    elif len(shapes) == 1:
        return shapes[0]
    else:
        return _common_shape(shapes[0], _common_of(shapes[1:]))


@jit
def broadcast_shapes(*args):
    return _common_of(tuple((s,) if isinstance(s, int) else s for s in args))


@jit
def _shape_of(arrays):
    """The shape of the arrays of a tuple, which are of several types, together."""
    if len(arrays) == 0:
        return ()
    else:
        return _common_shape(np.shape(arrays[0]), _shape_of(arrays[1:]))


@jit
def _each_of_shape(arrays, shape):
    if len(arrays) == 0:
        return ()
    else:
        first = np.broadcast_to(np.asarray(arrays[0]), shape)
        return (first, *_each_of_shape(arrays[1:], shape))


@jit
def broadcast_arrays(*args):
    return _each_of_shape(args, _shape_of(args))


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


implementations = {
    f.__name__: f
    for f in (atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, dstack, rot90)
}
