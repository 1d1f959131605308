"""Views of arrays in another shape."""

import math
import operator

import numpy as np

from .memory import strides_of


def reshape(a, shape, order):
    """The same elements in another shape."""
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    shape = [operator.index(n) for n in shape]
    if shape.count(-1) > 1:
        raise ValueError(f"reshape: one size may be -1; got {tuple(shape)}")
    if -1 in shape:
        known = -math.prod(shape)
        shape[shape.index(-1)] = a.size // known if known else 0
    if math.prod(shape) != a.size:
        raise ValueError(f"reshape: {a.size} elements do not fit shape {tuple(shape)}")
    if order == "A":
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    if a._x is None:
        return a._view(
            None, shape=tuple(shape), strides=strides_of(tuple(shape), a.itemsize, order)
        )
    model = np.lib.stride_tricks.as_strided(np.empty(1, a.dtype), a.shape, a.strides)
    try:
        view = model.view()
        view.shape = tuple(shape)
        strides = view.strides
    except AttributeError:
        strides = None
    if order == "F":
        strides = strides_of(tuple(shape), a.itemsize, "F") if a.flags.f_contiguous else None
    if strides is None:
        raise ValueError(
            "reshape: the elements do not lie so that the new shape is a view; use copy() first"
        )
    return a._view(lambda: a._x.reshape(tuple(shape), order=order))
