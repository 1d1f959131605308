"""Functions of NumPy that cut arrays into parts, which compiled code calls: the parts are views."""

from __future__ import annotations

import numpy as np

from . import jit
from .numpy_elements import these_arguments


@jit
def _parts(ary, indices_or_sections):
    parts = []
    begin = 0
    if isinstance(indices_or_sections, (int, np.integer)):
        each, more = divmod(len(ary), indices_or_sections)
        for k in range(indices_or_sections):
            end = begin + each + (1 if k < more else 0)
            parts.append(ary[begin:end])
            begin = end
    else:
        for end in indices_or_sections:
            parts.append(ary[begin:end])
            begin = end
        parts.append(ary[begin:])
    return parts


@jit
def array_split(ary, indices_or_sections, axis=None):
    k = 0 if axis is None else axis + ary.ndim if axis < 0 else axis
    if k < 0 or k >= ary.ndim:
        raise ValueError("array_split: the array has no such axis")
    if axis is None or ary.ndim == 1:
        return _parts(ary, indices_or_sections)
    elif ary.ndim == 2:  # one type for the parts along any axis
        if k == 1:
            return [p.swapaxes(0, 1) for p in _parts(ary.swapaxes(0, 1), indices_or_sections)]
        return [p.swapaxes(0, 1).swapaxes(0, 1) for p in _parts(ary, indices_or_sections)]
    elif ary.ndim == 3:
        if k == 2:
            return [p.swapaxes(0, 2) for p in _parts(ary.swapaxes(0, 2), indices_or_sections)]
        if k == 1:
            found = [p.swapaxes(0, 1) for p in _parts(ary.swapaxes(0, 1), indices_or_sections)]
            return [p.swapaxes(1, 2).swapaxes(1, 2) for p in found]
        return [p.swapaxes(0, 2).swapaxes(0, 2) for p in _parts(ary, indices_or_sections)]
    else:
        return these_arguments()


@jit
def split(ary, indices_or_sections, axis=None):
    if isinstance(indices_or_sections, (int, np.integer)):
        if ary.shape[0 if axis is None else axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@jit
def vsplit(ary, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections)


@jit
def hsplit(ary, indices_or_sections):
    if ary.ndim == 1:
        return split(ary, indices_or_sections)
    else:
        return [p.swapaxes(0, 1) for p in split(ary.swapaxes(0, 1), indices_or_sections)]


@jit
def dsplit(ary, indices_or_sections):
    return [p.swapaxes(0, 2) for p in split(ary.swapaxes(0, 2), indices_or_sections)]
