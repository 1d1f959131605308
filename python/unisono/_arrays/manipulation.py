"""Functions that join, repeat, roll and pad arrays, and that make grids."""

import math
import operator

import unisono as un

from .. import _engine
from .._numpy.grids import meshgrid, mgrid, ogrid
from . import fronts
from .axes import as_array, as_array_beside, as_array_within, axes_tuple, axis_index, several
from .joining import (
    _joined,
    append,
    block,
    column_stack,
    concat,
    concatenate,
    dstack,
    hstack,
    stack,
    vstack,
)

# Repeating and moving.

# So many elements are joined at once, where a statement would be planned and run.
_few_elements = 4096


def tile(A, reps):
    """Repeat an array along its axes, `reps` times.

    Parameters
    ----------
    A : array_like
    reps : int or sequence of int

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `A` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.tile([1, 2], (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = as_array(A)
    reps = tuple(map(operator.index, several(reps)))
    rank = max(x.ndim, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - x.ndim) + x.shape
    if any(r < 0 for r in reps) and (
        x.size or any(r * n < 0 for r, n in zip(reps, shape, strict=True))
    ):
        raise ValueError(f"tile: repetitions must not be negative; got {reps}")
    repeated = [k for k, r in enumerate(reps) if r != 1]
    if len(repeated) == 1 and 0 < reps[repeated[0]] <= 8:
        if isinstance(x, _engine._Array):
            return un.concatenate((x.reshape(shape),) * reps[repeated[0]], axis=repeated[0])
    if x.size == 0:
        return un.empty([r * n for r, n in zip(reps, shape, strict=True)], x.dtype, device=x.device)
    # Each axis in two: which repetition, and where in it.
    split = [n for pair in zip(reps, shape, strict=True) for n in pair]
    made = un.empty(split, x.dtype, device=x.device)
    made[...] = x.reshape([n for extent in shape for n in (1, extent)])
    return made.reshape([r * n for r, n in zip(reps, shape, strict=True)])


@_engine._FastPath
def repeat(a, repeats, axis=None):
    """Repeat each element, or each slice along an axis.

    Parameters
    ----------
    a : array_like
    repeats : int or array_like of int
        One number for all elements, or one for each.
    axis : int, optional
        By default the array is flattened in row-major order.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.repeat([1, 2], [2, 3]).tolist()
    [1, 1, 2, 2, 2]
    """
    x = as_array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    elif x.ndim == 0:
        x = x.reshape(1)
    axis = axis_index(axis, x.ndim, "repeat")
    counts = as_array_beside(repeats, x)
    if counts.dtype.kind not in "iub" and counts.size:
        raise TypeError(f"repeat: counts must be integers; got dtype {counts.dtype}")
    if counts.ndim > 1:
        raise ValueError(f"repeat: counts must have at most one axis; got {counts.ndim}")
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if counts.size == 1:
        count = int(counts.reshape(()))
        if count < 0:
            raise ValueError(f"repeat: counts must not be negative; got {count}")
        if 0 < count <= 8 and 0 < x.size <= _few_elements and isinstance(x, _engine._Array):
            same = (x.reshape((*before, n, 1, *after)),) * count
            return un.concatenate(same, axis=axis + 1).reshape((*before, n * count, *after))
        made = un.empty((*before, n, count, *after), x.dtype, device=x.device)
        made[...] = x.reshape((*before, n, 1, *after))
        return made.reshape((*before, n * count, *after))
    if counts.size != n:
        raise ValueError(
            f"repeat: as many counts as elements are needed; got {counts.size} for {n} along axis {axis}"
        )
    positions = fronts.repeated_positions(counts)
    return x[positions] if axis == 0 else x[(slice(None),) * axis + (positions,)]


def roll(a, shift, axis=None):
    """Roll elements along axes; elements that leave at one end enter at the other.

    Parameters
    ----------
    a : array_like
    shift : int or tuple of int
    axis : int or tuple of int, optional
        By default the array is flattened, and restored to its shape afterwards.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.roll(un.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    x = as_array(a)
    if axis is None:
        return roll(x.ravel(), shift, 0).reshape(x.shape)
    axes = several(axis)
    if type(shift) is int:  # of any size
        shifts = [shift]
    else:
        shifts = as_array(shift).tolist()
        shifts = shifts if isinstance(shifts, list) else [shifts]
    if len(shifts) != len(axes):
        n = max(len(shifts), len(axes))
        if min(len(shifts), len(axes)) != 1:
            raise ValueError(
                f"roll: shifts and axes do not broadcast; got {len(shifts)} and {len(axes)}"
            )
        shifts, axes = shifts * (n // len(shifts)), tuple(axes) * (n // len(axes))
    moves = dict.fromkeys(range(x.ndim), 0)
    for s, k in zip(shifts, axes, strict=True):
        moves[axis_index(k, x.ndim, "roll")] += int(s)  # of text and fractions, too, as NumPy
    made = un.empty(x.shape, x.dtype, device=x.device)
    pairs = [((), ())]
    for k in range(x.ndim):
        n = x.shape[k]
        by = moves[k] % n if n else 0
        ranges = [(slice(None), slice(None))]
        if by:
            ranges = [
                (slice(by, None), slice(None, n - by)),
                (slice(None, by), slice(n - by, None)),
            ]
        pairs = [((*to, t), (*start, f)) for to, start in pairs for t, f in ranges]
    for to, start in pairs:
        made[to] = x[start]
    return made


def resize(a, new_shape):
    """The elements of `a` in a new shape, repeated or cut to fill it.

    Parameters
    ----------
    a : array_like
    new_shape : int or tuple of int

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    x = as_array(a).ravel()
    shape = (
        (new_shape,)
        if hasattr(new_shape, "__index__") and not getattr(new_shape, "ndim", 0)
        else new_shape
    )
    shape = tuple(operator.index(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"resize: extents must not be negative; got {shape}")
    size = math.prod(shape)
    if x.size == 0 or size == 0:
        return un.zeros(shape, x.dtype, device=x.device)
    return (tile(x, -(-size // x.size))[:size] if size > x.size else x[:size].copy()).reshape(shape)


def trim_zeros(filt, trim="fb", axis=None):
    """Trim leading and trailing zeros, along each axis.

    Parameters
    ----------
    filt : array_like
    trim : str
        'f' trims the front, 'b' the back.
    axis : int or tuple of int, optional
        None, the default, means all axes.

    Returns
    -------
    ndarray, or a list of a list

    Raises
    ------
    ValueError
        If `trim` has letters other than f and b.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.trim_zeros([0, 1, 2, 0])
    [1, 2]
    """
    x = as_array(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: trim must be 'fb', 'f' or 'b'; got {trim!r}")
    axes = axes_tuple(axis, x.ndim, "trim_zeros")
    if x.ndim == 0:
        return x
    places = un.nonzero(x)
    key = [slice(None)] * x.ndim
    for k in axes:
        if places[k].size == 0:
            key[k] = slice(0, 0)
            continue
        start = int(places[k].min()) if "f" in trim else 0
        stop = int(places[k].max()) + 1 if "b" in trim else x.shape[k]
        key[k] = slice(start, stop)
    made = x[tuple(key)]
    return made.tolist() if isinstance(filt, list) else made


# Inserting and deleting.


def _places(given, x):
    """Indices or a mask as an array beside `x`; an empty list, which has no integers to tell the dtype by, is one of indices."""
    places = as_array_beside(given, x)
    return (
        places.astype("int64") if places.size == 0 and isinstance(given, (list, tuple)) else places
    )


def delete(arr, obj, axis=None):
    """Array without the slices given by `obj`: an index, several, a slice or a mask.

    Parameters
    ----------
    arr : array_like
    obj : object
    axis : int, optional
        By default the array is flattened in row-major order.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.delete([1, 2, 3, 4], [0, -1]).tolist()
    [2, 3]
    """
    x = as_array(arr)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = axis_index(axis, x.ndim, "delete")
    n = x.shape[axis]
    before = (slice(None),) * axis
    if not isinstance(obj, slice):
        obj = _places(obj, x)
        if obj.dtype == "bool" and obj.shape != (n,):
            raise ValueError(
                f"delete: the mask must have the extent of the axis; got {obj.shape} for {n}"
            )
        if obj.dtype.kind not in "iub":
            raise IndexError(f"delete: expected integers, a slice or a mask; got dtype {obj.dtype}")
        if obj.ndim == 0 or (obj.size == 1 and obj.dtype != "bool"):
            at = int(obj.reshape(()))
            if not -n <= at < n:
                raise IndexError(
                    f"delete: index {at} is out of bounds for axis {axis} with size {n}"
                )
            at %= n
            parts = [x[(*before, slice(None, at))], x[(*before, slice(at + 1, None))]]
            return _joined("delete", parts, axis)
    keep = un.ones(n, "bool", device=x.device)
    keep[obj] = False
    return x[(*before, keep)]


def insert(arr, obj, values, axis=None):
    """Array with values before the given indices.

    Parameters
    ----------
    arr : array_like
    obj : object
    values : array_like
    axis : int, optional
        By default the array is flattened in row-major order.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.insert([1, 2, 3], 1, [8, 9]).tolist()
    [1, 8, 9, 2, 3]
    """
    x = as_array(arr)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = axis_index(axis, x.ndim, "insert")
    n = x.shape[axis]
    before = (slice(None),) * axis
    if isinstance(obj, slice):
        places = un.arange(*obj.indices(n))
    else:
        places = _places(obj, x)
        if places.dtype == "bool":
            if places.ndim != 1:
                raise ValueError("insert: a mask must have one axis")
            places = un.nonzero(places)[0]
        elif places.ndim > 1:
            raise ValueError(f"insert: indices must have at most one axis; got {places.ndim}")
    if places.dtype.kind not in "iu":
        error = IndexError if places.ndim else TypeError
        raise error(f"insert: expected integers, a slice or a mask; got dtype {places.dtype}")
    single = places.ndim == 0
    wanted = [int(p) for p in places.ravel().tolist()]
    for p in wanted:
        if not -n <= p <= n:
            raise IndexError(f"insert: index {p} is out of bounds for axis {axis} with size {n}")
    wanted = [p + n if p < 0 else p for p in wanted]
    values = as_array_within(values, x)
    if len(wanted) == 1:
        # One index takes any number of values along the axis.
        values = values.reshape((1,) * (x.ndim - values.ndim) + values.shape)
        if single:
            # The first axis of the values goes where the axis is, as NumPy has it.
            order = [*range(1, axis + 1), 0, *range(axis + 1, values.ndim)]
            values = values.transpose(order)
        count = values.shape[axis]
        shape = (*x.shape[:axis], n + count, *x.shape[axis + 1 :])
        made = un.empty(shape, x.dtype, device=x.device)
        at = wanted[0]
        made[(*before, slice(None, at))] = x[(*before, slice(None, at))]
        made[(*before, slice(at, at + count))] = values
        made[(*before, slice(at + count, None))] = x[(*before, slice(at, None))]
        return made
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for rank, k in enumerate(order):
        wanted[k] += rank
    old = un.ones(n + len(wanted), "bool", device=x.device)
    places = un.asarray(wanted, "int64", device=x.device)
    old[places] = False
    shape = (*x.shape[:axis], n + len(wanted), *x.shape[axis + 1 :])
    made = un.empty(shape, x.dtype, device=x.device)
    made[(*before, places)] = values
    made[(*before, old)] = x
    return made


# Grids.


__all__ = [
    "append", "block", "column_stack", "concat", "concatenate", "delete", "dstack", "hstack", "insert", "meshgrid",
    "mgrid", "ogrid", "repeat", "resize", "roll", "stack", "tile", "trim_zeros", "vstack",
]  # fmt: skip
