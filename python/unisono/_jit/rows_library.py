"""Arrays of lists of lists, of tuples and of arrays, which compiled code makes."""

from __future__ import annotations

import numpy as np

from . import jit


@jit
def _row(item):
    return np.array(item)


@jit
def rows_of(items):
    """``np.array(items)`` of rows of one shape; as in `stack`, along a new first axis."""
    n = len(items)
    if n == 0:
        raise ValueError("an array of no rows has no shape in compiled code; use np.zeros((0, k))")
    first = _row(items[0])
    made = np.empty((n, *first.shape), first.dtype)
    for i in range(n):
        row = _row(items[i])
        if len(row) != len(first):
            raise ValueError(
                "setting an array element with a sequence. The requested array has an "
                "inhomogeneous shape"
            )
        made[i] = row
    return made


@jit
def concatenated(items):
    """Along the first axis."""
    if len(items) == 0:
        raise ValueError("need at least one array to concatenate")
    first = np.asarray(items[0])
    n = 0
    for x in items:
        n += len(x)
    made = np.empty((n, *first.shape[1:]), first.dtype)
    n = 0
    for x in items:
        part = np.asarray(x)
        made[n : n + len(x)] = part
        n += len(x)
    return made


@jit
def vstacked(items):
    first = np.asarray(items[0])
    if first.ndim == 1:
        return rows_of(items)
    else:
        return concatenated(items)


@jit
def hstacked(items):
    first = np.asarray(items[0])
    if first.ndim == 1:
        return concatenated(items)
    else:
        return concatenated([x.swapaxes(0, 1) for x in items]).swapaxes(0, 1)


@jit
def as_columns(items):
    first = np.asarray(items[0])
    if first.ndim == 1:
        return rows_of(items).T.copy()
    else:
        return hstacked(items)


of_lists = {
    "array": rows_of,
    "asarray": rows_of,
    "column_stack": as_columns,
    "concatenate": concatenated,
    "hstack": hstacked,
    "stack": rows_of,
    "vstack": vstacked,
}
