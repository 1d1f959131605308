"""Indices of arrays by their number, in the order in which NumPy's iterators give them; compiled."""

from __future__ import annotations

import numpy as np

from . import jit


@jit
def count_of(shape):
    """How many elements an array of a shape has."""
    if isinstance(shape, (int, np.integer)):
        return shape
    else:
        n = 1
        for extent in shape:
            n *= extent
        return n


@jit
def index_at(k, shape):
    """The index of element k, the last axis running fastest."""
    if isinstance(shape, (int, np.integer)):
        return (k,)
    elif len(shape) == 0:
        return ()
    elif len(shape) == 1:
        return (k,)
    elif len(shape) == 2:
        return k // shape[1], k % shape[1]
    elif len(shape) == 3:
        row = k // shape[2]
        return row // shape[1], row % shape[1], k % shape[2]
    elif len(shape) == 4:
        row = k // shape[3]
        plane = row // shape[2]
        return plane // shape[1], plane % shape[1], row % shape[2], k % shape[3]
    else:
        row = k // shape[4]
        plane = row // shape[3]
        block = plane // shape[2]
        return block // shape[1], block % shape[1], plane % shape[2], row % shape[3], k % shape[4]


@jit
def flat_index(k, shape):
    """The index of element k of all, which may count from the end."""
    n = count_of(shape)
    if k < -n or k >= n:
        raise IndexError(f"index {k} is out of bounds for size {n}")
    return index_at(k + n if k < 0 else k, shape)


@jit
def is_contiguous(a, order):
    """Whether elements lie side by side in C's or Fortran's order."""
    if a.ndim == 0:
        return True
    else:
        expected = a.itemsize
        for k in range(a.ndim):
            axis = a.ndim - 1 - k if order == "C" else k
            if a.shape[axis] != 1 and a.strides[axis] != expected:
                return a.size == 0
            expected *= a.shape[axis]
        return True


@jit
def all_of(a):
    """All elements, row by row; of a number itself."""
    if a.ndim == 0:
        return np.full(1, a)
    else:
        return a.ravel()


@jit
def in_memory_order(a):
    """All elements: those of an array in Fortran's order column by column, as nditer has them."""
    if a.ndim > 1 and is_contiguous(a, "F") and not is_contiguous(a, "C"):
        return a.T.ravel()
    return all_of(a)


@jit
def are_alike(arrays):
    """Whether arrays have one shape."""
    same = True
    for a in arrays:
        same = same and a.shape == arrays[0].shape
    return same


@jit
def in_common_order(a, arrays):
    """All elements of one of several arrays of one shape, in the order in which nditer visits all."""
    columns = a.ndim > 1
    for other in arrays:
        columns = columns and is_contiguous(other, "F") and not is_contiguous(other, "C")
    if columns:
        return a.T.ravel()
    return all_of(a)


@jit
def in_common_shape(a, arrays):
    """All elements of one of several arrays as these broadcast together, row by row."""
    rank = 0
    for other in arrays:
        rank = max(rank, other.ndim)
    shape = [1] * rank
    for other in arrays:
        for k in range(other.ndim):
            n, at = other.shape[k], rank - other.ndim + k
            if n != 1:
                if shape[at] != 1 and shape[at] != n:
                    raise ValueError("nditer: the operands' shapes do not broadcast")
                shape[at] = n
    count = 1
    for n in shape:
        count *= n
    elements = all_of(a)
    out = np.empty(count, a.dtype)
    for i in range(count):
        rest, place, step = i, 0, 1
        for k in range(rank):
            n, axis = shape[rank - 1 - k], a.ndim - 1 - k
            if axis >= 0:
                if a.shape[axis] != 1:
                    place += rest % n * step
                step *= a.shape[axis]
            rest //= n
        out[i] = elements[place]
    return out
