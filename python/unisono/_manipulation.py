"""Functions that join, repeat, roll and pad arrays, and that make grids."""

import math
import operator
from functools import reduce

import unisono as un

from . import _engine
from ._axes import as_array, axes_tuple, axis_index
from ._indexing import broadcast, check_cast
from ._ufunc import promoted

# Joining.


def _joined(what, arrays, axis, out=None, dtype=None, casting="same_kind"):
    """Concatenate arrays that have axes, by NumPy's rules for out, dtype and casting."""
    if out is not None and dtype is not None:
        raise TypeError(f"{what}: takes only one of out= and dtype=; got both")
    if not arrays:
        raise ValueError(f"{what}: needs at least one array")
    if arrays[0].ndim == 0:
        raise ValueError(
            f"{what}: arrays of rank 0 cannot be joined; give them an axis, or use stack"
        )
    axis = axis_index(axis, arrays[0].ndim, what)
    target = un.empty((), dtype).dtype if dtype is not None else None if out is None else out.dtype
    if target is not None:
        for x in arrays:
            check_cast(what, x.dtype, target, casting)
    if any(not isinstance(x, _engine.ndarray) for x in arrays):
        raise TypeError(f"{what}: not there for distributed arrays; gather them with np.asarray")
    return _engine._concatenate(arrays, axis, dtype, out)


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays one after another along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Equal in shape but for `axis`.
    axis : int, optional
        None joins all elements in row-major order.
    out : ndarray, optional
    dtype : dtype, optional
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.concatenate(([1, 2], [3.5])).tolist()
    [1.0, 2.0, 3.5]
    """
    arrays = [as_array(x) for x in arrays]
    if axis is None:
        arrays, axis = [x.ravel() for x in arrays], 0
    return _joined("concatenate", arrays, axis, out, dtype, casting)


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape, joined along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int or tuple of int, optional
        All axes where it is None.
    out : ndarray, optional
        Written to and returned; of the shape of the result.
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.stack(([1, 2], [3, 4]), axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    arrays = [as_array(x) for x in arrays]
    if not arrays:
        raise ValueError("stack: needs at least one array")
    shape = arrays[0].shape
    for x in arrays:
        if x.shape != shape:
            raise ValueError(f"stack: all arrays must have the same shape; got {shape}, {x.shape}")
    axis = axis_index(axis, len(shape) + 1, "stack")
    key = (slice(None),) * axis + (None,)
    return _joined("stack", [_grown(x)[key] for x in arrays], axis, out, dtype, casting)


def _grown(x):
    """`x` as an array: a value becomes one of rank 0."""
    return x if x.ndim else x.reshape(())


def _at_least(arrays, n):
    made = []
    for x in arrays:
        x = as_array(x)
        if x.ndim == 0:
            x = x.reshape(1)
        made.append(x[None] if x.ndim == 1 and n == 2 else x)
    return made


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays one below another: joined along axis 0, vectors as rows.

    Parameters
    ----------
    tup : sequence of array_like
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

    Returns
    -------
    ndarray of two axes or more

    Raises
    ------
    ValueError
        Shapes that differ on another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.vstack(([1, 2], [3, 4])).tolist()
    [[1, 2], [3, 4]]
    """
    return _joined("vstack", _at_least(tup, 2), 0, None, dtype, casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays side by side: joined along axis 1, vectors along axis 0.

    Parameters
    ----------
    tup : sequence of array_like
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Shapes that differ on another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.hstack(([1, 2], [3])).tolist()
    [1, 2, 3]
    """
    arrays = _at_least(tup, 1)
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return _joined("hstack", arrays, axis, None, dtype, casting)


def dstack(tup):
    """Arrays joined along axis 2, as which vectors and matrices get a new one.

    Parameters
    ----------
    tup : sequence of array_like

    Returns
    -------
    ndarray of three axes or more

    Raises
    ------
    ValueError
        Shapes that differ on another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.dstack(([1, 2], [3, 4])).tolist()
    [[[1, 3], [2, 4]]]
    """
    arrays = [x if x.ndim > 2 else x[..., None] for x in _at_least(tup, 2)]
    return _joined("dstack", arrays, 2)


def column_stack(tup):
    """Matrices side by side; vectors become columns.

    Parameters
    ----------
    tup : sequence of array_like

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    ValueError
        Columns of different lengths.

    Examples
    --------
    >>> import unisono as un
    >>> un.column_stack(([1, 2], [3, 4])).tolist()
    [[1, 3], [2, 4]]
    """
    arrays = [x if x.ndim > 1 else x.reshape(-1, 1) for x in map(as_array, tup)]
    return _joined("column_stack", arrays, 1)


def append(arr, values, axis=None):
    """`arr` with `values` after its end: a new array.

    Parameters
    ----------
    arr, values : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.append([1, 2], [3]).tolist()
    [1, 2, 3]
    """
    if axis is None:
        return concatenate((as_array(arr).ravel(), as_array(values).ravel()))
    return concatenate((arr, values), axis)


def block(arrays):
    """Array made of nested lists of blocks: the innermost lists join along the last axis.

    Parameters
    ----------
    arrays : sequence of array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.block([[un.ones((1, 1)), un.zeros((1, 2))], [un.zeros((1, 3))]]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def depth_of(part):
        if isinstance(part, tuple):
            raise TypeError("block: tuples are not blocks; use lists")
        if not isinstance(part, list):
            return 0
        if not part:
            raise ValueError("block: lists must not be empty")
        depths = {depth_of(p) for p in part}
        if len(depths) > 1:
            raise ValueError("block: all lists must be nested to the same depth")
        return depths.pop() + 1

    def rank_of(part):
        return max(map(rank_of, part)) if isinstance(part, list) else as_array(part).ndim

    depth = depth_of(arrays)
    rank = max(depth, rank_of(arrays))

    def joined(part, level):
        if not isinstance(part, list):
            x = as_array(part)
            return x.reshape((1,) * (rank - x.ndim) + x.shape)
        return _joined("block", [joined(p, level + 1) for p in part], rank - depth + level)

    made = joined(arrays, 0)
    return made.copy() if depth == 0 else made


# Repeating and moving.


def tile(A, reps):
    """`A` repeated along its axes as often as `reps` says.

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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.tile([1, 2], (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = as_array(A)
    reps = tuple(map(operator.index, reps)) if hasattr(reps, "__iter__") else (int(reps),)
    rank = max(x.ndim, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - x.ndim) + x.shape
    if any(r < 0 for r in reps):
        raise ValueError(f"tile: repetitions must not be negative; got {reps}")
    # Each axis in two: which repetition, and where in it.
    split = [n for pair in zip(reps, shape, strict=True) for n in pair]
    made = un.empty(split, x.dtype, device=x.device)
    made[...] = x.reshape([n for extent in shape for n in (1, extent)])
    return made.reshape([r * n for r, n in zip(reps, shape, strict=True)])


def repeat(a, repeats, axis=None):
    """Each element (or slice along an axis) repeated in place.

    Parameters
    ----------
    a : array_like
    repeats : int or array_like of int
        One count for all, or one for each.
    axis : int, optional
        All elements in row-major order by default.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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
    counts = as_array(repeats)
    if counts.dtype.kind not in "iub" and counts.size:
        raise TypeError(f"repeat: counts must be integers; got dtype {counts.dtype}")
    if counts.ndim > 1:
        raise ValueError(f"repeat: counts must have at most one axis; got {counts.ndim}")
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if counts.size == 1:
        count = int(counts.reshape(()))
        if count < 0:
            raise ValueError(f"repeat: counts must not be negative; got {count}")
        made = un.empty((*before, n, count, *after), x.dtype, device=x.device)
        made[...] = x.reshape((*before, n, 1, *after))
        return made.reshape((*before, n * count, *after))
    if counts.size != n:
        raise ValueError(
            f"repeat: as many counts as elements are needed; got {counts.size} for {n} along axis {axis}"
        )
    return x[(slice(None),) * axis + (_engine._repeated_positions(counts),)]


def roll(a, shift, axis=None):
    """Elements moved along axes; what leaves at one end enters at the other.

    Parameters
    ----------
    a : array_like
    shift : int or tuple of int
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.roll(un.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    x = as_array(a)
    if axis is None:
        return roll(x.ravel(), shift, 0).reshape(x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
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
        moves[axis_index(k, x.ndim, "roll")] += operator.index(s)
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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    x = as_array(a).ravel()
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"resize: extents must not be negative; got {shape}")
    size = math.prod(shape)
    if x.size == 0 or size == 0:
        return un.zeros(shape, x.dtype)
    return (tile(x, -(-size // x.size))[:size] if size > x.size else x[:size].copy()).reshape(shape)


def trim_zeros(filt, trim="fb", axis=None):
    """The part of an array between its first and last elements that are not zero, per axis.

    Parameters
    ----------
    filt : array_like
    trim : str
        'f' for the front, 'b' for the back.
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray, or a list of a list

    Raises
    ------
    ValueError
        `trim` has other letters than f and b.
    AxisError
        The array has no such axis.

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


def delete(arr, obj, axis=None):
    """Array without the slices that `obj` (an index, several, a slice or a mask) names.

    Parameters
    ----------
    arr : array_like
    obj : object
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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
        obj = as_array(obj)
        if obj.size == 0 and obj.dtype.kind == "f":
            obj = obj.astype("int64")
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
    keep = un.ones(n, "bool")
    keep[obj] = False
    return x[(*before, keep)]


def insert(arr, obj, values, axis=None):
    """Array with values before the given indices.

    Parameters
    ----------
    arr : array_like
    obj : object
    values : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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
        places = as_array(obj)
        if places.dtype == "bool":
            if places.ndim != 1:
                raise ValueError("insert: a mask must have one axis")
            places = un.nonzero(places)[0]
        elif places.ndim > 1:
            raise ValueError(f"insert: indices must have at most one axis; got {places.ndim}")
    if places.size == 0 and places.dtype.kind == "f":
        places = places.astype("int64")
    if places.dtype.kind not in "iu":
        raise IndexError(f"insert: expected integers, a slice or a mask; got dtype {places.dtype}")
    single = places.ndim == 0
    wanted = [int(p) for p in places.ravel().tolist()]
    for p in wanted:
        if not -n <= p <= n:
            raise IndexError(f"insert: index {p} is out of bounds for axis {axis} with size {n}")
    wanted = [p + n if p < 0 else p for p in wanted]
    values = as_array(values).astype(x.dtype, copy=False)
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
    old = un.ones(n + len(wanted), "bool")
    places = un.asarray(wanted, "int64")
    old[places] = False
    shape = (*x.shape[:axis], n + len(wanted), *x.shape[axis + 1 :])
    made = un.empty(shape, x.dtype, device=x.device)
    made[(*before, places)] = values
    made[(*before, old)] = x
    return made


# Grids.


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid from the coordinates along each axis.

    Parameters
    ----------
    *xi : array_like
    copy : bool, optional
    sparse : bool
    indexing : {'xy', 'ij'}

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> x, y = un.meshgrid([1, 2, 3], [10, 20])
    >>> (x + y).tolist()
    [[11, 12, 13], [21, 22, 23]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij'; got {indexing!r}")
    n = len(xi)
    made = []
    for k, x in enumerate(xi):
        x = as_array(x)
        at = 1 - k if indexing == "xy" and n > 1 and k < 2 else k
        made.append(x.reshape((1,) * at + (x.size,) + (1,) * (n - at - 1)))
    if not sparse:
        made = broadcast(made)
    return tuple(x.copy() for x in made) if copy else tuple(made)


class _Grid:
    """Grids by slices: ``mgrid[0:3, 0:1:5j]``; a complex step counts points, the end included."""

    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        single = not isinstance(key, tuple)
        lines = [self._line(s) for s in ((key,) if single else key)]
        if single:
            return lines[0]
        common = reduce(promoted, [x.dtype for x in lines])
        n = len(lines)
        open_grid = tuple(
            x.astype(common, copy=False).reshape((1,) * k + (x.size,) + (1,) * (n - k - 1))
            for k, x in enumerate(lines)
        )
        if self._sparse:
            return open_grid
        made = un.empty((n, *(x.size for x in lines)), common)
        for k, x in enumerate(open_grid):
            made[k] = x
        return made

    @staticmethod
    def _line(s):
        start, step = s.start or 0, 1 if s.step is None else s.step
        if isinstance(step, complex):
            count = int(abs(step))
            gap = (s.stop - start) / (count - 1) if count > 1 else 1.0
            return un.arange(count) * float(gap) + start
        return un.arange(start, s.stop, step)


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)

__all__ = [
    "append", "block", "column_stack", "concat", "concatenate", "delete", "dstack", "hstack", "insert", "meshgrid",
    "mgrid", "ogrid", "repeat", "resize", "roll", "stack", "tile", "trim_zeros", "vstack",
]  # fmt: skip
