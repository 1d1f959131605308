"""Helpers that functions over axes share."""

import math

from .. import _engine, exceptions


def as_operand(x, dtype=None):
    """An array of `x` to be read at once: it may share the memory of an array of another library."""
    return _engine._array(x, dtype, None, None)


def as_array(x):
    """`x` itself if it is an unisono array, else converted to one."""
    if isinstance(x, _engine._Array):
        return x
    return _engine._array_of_value(x) if isinstance(x, _engine._values) else as_operand(x)


_strides = _engine.ndarray.strides.__get__


def byte_strides(x):
    """Bytes between elements along each axis, also of arrays of a class that tells them otherwise."""
    if type(x) is _engine.ndarray or _engine.ndarray not in type(x).__mro__:
        return x.strides
    return _strides(x)


def as_array_beside(value, *others):
    """`value` as an array; what is no array of ours, and NumPy's scalars, go to the device of the first of `others`."""
    if isinstance(value, _engine._Array) and (value.ndim or not value._is_value()):
        return value
    made = as_array(value)
    for x in others:
        if isinstance(x, _engine._Array):
            return made if made.device == x.device else made.to_device(x.device)
    return made


def as_array_within(value, x):
    """`value` as an array of the dtype of `x`, beside it; Python's integers that do not fit raise OverflowError."""
    if hasattr(value, "dtype"):
        return as_array_beside(value, x).astype(x.dtype, copy=False)
    made = as_operand(value, x.dtype)
    return made if made.device == x.device else made.to_device(x.device)


def of_class_of(source, made, subok=True):
    """What a function made of `source`: of its class if that derives from the array, and ``subok=`` asks for it."""
    if type(source) is _engine.ndarray or not isinstance(source, _engine._Array):
        return made
    if not isinstance(source, _engine._subclass_base()):
        return made
    return _engine._of_class(made, source) if subok else _engine._plain(made)


def arrays_together(*values):
    """Each value as an array, on one device where any of them is an array of ours."""
    for v in values:
        if not isinstance(v, _engine._Array):
            return tuple(as_array_beside(v, *values) for v in values)
    return values


def items_together(sequence):
    """The items of a sequence as `arrays_together`; those of an array that are numbers go to its device."""
    if isinstance(sequence, _engine._Array):
        return tuple(as_array_beside(v, sequence) for v in sequence)
    return arrays_together(*sequence)


def several(given):
    """What is given once or several times, as axes and extents are, as a tuple: arrays and lists are several."""
    try:
        return tuple(given)
    except TypeError:
        return (given,)


def axis_index(axis, ndim, what):
    """`axis` counted from the front, in range."""
    if type(axis) is not int:
        from operator import index

        axis = index(axis)
    if not -ndim <= axis < ndim:
        raise exceptions.AxisError(
            f"{what}: axis {axis} is out of bounds for an array of dimension {ndim}"
        )
    return axis + ndim if axis < 0 else axis


def axis_error(what, error):
    """An AxisError of a function that `what` calls, as one of its own."""
    return exceptions.AxisError(what + str(error)[str(error).index(":") :])


def axes_tuple(axis, ndim, what):
    """The axes of ``axis=`` as a tuple, in the order given; all for None."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_index(k, ndim, what) for k in given)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{what}: an axis is given twice; got {axis}")
    return axes


def extent(x, axis):
    """How many elements a reduction over `axis` combines."""
    if axis is None:
        return x.size
    return math.prod(x.shape[k] for k in axes_tuple(axis, x.ndim, "reduction"))


def flat(x):
    """All elements in row-major order: a view where possible."""
    return x if x.ndim == 1 else x.ravel()


def number_without_axes(x):
    """`x`, or as NumPy's scalar the number that an array without axes holds."""
    return x if x.ndim else x[()]


def _broadcasts(shape, to):
    """Whether an array of `shape` can fill one of shape `to`."""
    ends = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(n in (1, m) for n, m in ends)


def restore_axes(result, x, axes):
    """`result`, whose `axes` of `x` were reduced, with these as axes of extent 1."""
    axes = axes_tuple(axes, x.ndim, "reduction")
    return result.reshape(tuple(1 if k in axes else n for k, n in enumerate(x.shape)))


def axis_last(x, axis):
    """View of `x` with `axis` as its last one."""
    order = [k for k in range(x.ndim) if k != axis]
    return x.transpose((*order, axis))


def axes_last(x, axes):
    """`x` with `axes` joined into one axis at its end."""
    rest = [k for k in range(x.ndim) if k not in axes]
    moved = x.transpose((*rest, *axes))
    return moved.reshape((*(x.shape[k] for k in rest), math.prod(x.shape[k] for k in axes)))


_levels = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def store(what, result, out, broader=False):
    """`result`, written into `out` where one is given, by NumPy's rule for casts in place.

    Without axes and without `out` it is a number, as NumPy's results are, but of classes that derive from the array. `broader`: `out` may be of a shape to which
    the result's broadcasts.
    """
    if out is None:
        # Of objects NumPy gives one of them.
        is_plain = getattr(result, "shape", None) == () and _engine._plain(result) is result
        return result[()] if is_plain else result
    if not isinstance(out, _engine._Array):
        raise TypeError(f"{what}: out= must be an array of unisono; got {type(out).__name__}")
    if out.shape != result.shape and not (broader and _broadcasts(result.shape, out.shape)):
        raise ValueError(
            f"{what}: out= has another shape; got {out.shape}, expected {result.shape}"
        )
    if _levels[result.dtype.kind] > _levels[out.dtype.kind]:
        raise TypeError(
            f"{what}: cannot cast the result from {result.dtype} to {out.dtype} in place"
        )
    out[...] = result
    return out
