"""Functions that pick, place and count elements: take, put, nonzero, choose, diagonals, triangles, index grids."""

import math
import operator

import unisono as un

from . import _engine
from ._axes import as_array, axis_index, store
from ._engine import ndarray
from ._ufunc import broadcast_shapes, promoted


def _integers(what, x):
    """`x` as an array of integers; an empty sequence has no dtype."""
    made = as_array(x)
    if made.dtype.kind not in "iu" and made.dtype.kind != "b":
        if made.size:
            raise TypeError(
                f"{what}: expected integers; got dtype {made.dtype}; convert with .astype(int)"
            )
        made = made.astype("int64")
    return made.astype("int64", copy=False)


def _bounded(what, indices, size, mode):
    """Indices in [0, size) by NumPy's modes, or as they are for "raise", which indexing checks."""
    if mode == "raise":
        return indices
    if mode not in ("wrap", "clip"):
        raise ValueError(f"{what}: mode must be 'raise', 'wrap' or 'clip'; got {mode!r}")
    if size == 0 and indices.size:
        raise IndexError(f"{what}: cannot take from an empty axis")
    if mode == "wrap":
        return indices % un.maximum(size, 1)
    return un.minimum(un.maximum(indices, 0), size - 1)


def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements of `a` along an axis, by their indices.

    Parameters
    ----------
    a : array_like
    indices : array_like of int
    axis : int, optional
        All elements in row-major order by default.
    out : ndarray, optional
    mode : {"raise", "wrap", "clip"}
        What to do with indices out of range.

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
    >>> un.take([10, 20, 30], [2, 0, -1]).tolist()
    [30, 10, 30]
    """
    x = as_array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = axis_index(axis, x.ndim, "take")
    indices = _bounded("take", _integers("take", indices), x.shape[axis], mode)
    if 0 in x.shape[:axis]:  # nothing is taken: the indices are not looked at
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        result = un.empty(shape, x.dtype, device=x.device)
    elif indices.ndim:
        result = x[(slice(None),) * axis + (indices,)]
    else:
        result = x[(slice(None),) * axis + (int(indices),)]
        result = result.copy() if result.ndim else result
    return store("take", result, out)


def _along(what, x, indices, axis):
    """The index of take_along_axis and put_along_axis."""
    if indices.ndim != x.ndim:
        raise ValueError(
            f"{what}: indices and array must have the same number of axes; got {indices.ndim} and {x.ndim}"
        )
    if indices.dtype.kind not in "iu":
        raise IndexError(f"{what}: indices must be integers; got dtype {indices.dtype}")
    key = []
    for k in range(x.ndim):
        if k == axis:
            key.append(indices)
        else:
            shape = (1,) * k + (-1,) + (1,) * (x.ndim - k - 1)
            key.append(un.arange(x.shape[k]).reshape(shape))
    return tuple(key)


def take_along_axis(arr, indices, axis=-1):
    """Elements along an axis where `indices` holds their indices, as `argsort` gives them.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
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
    >>> un.take_along_axis(un.asarray([[10, 30, 20]]), un.asarray([[0, 2, 1]]), axis=1).tolist()
    [[10, 20, 30]]
    """
    x, indices = as_array(arr), as_array(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("take_along_axis: with axis=None the indices must have one axis")
        x, axis = x.ravel(), 0
    axis = axis_index(axis, x.ndim, "take_along_axis")
    return x[_along("take_along_axis", x, indices, axis)]


def put_along_axis(arr, indices, values, axis):
    """Store values in `arr` where `indices` holds their places along an axis.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
    values : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    None
        `arr` is changed.

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros((2, 2))
    >>> un.put_along_axis(x, [[1], [0]], 7, axis=1)
    >>> x.tolist()
    [[0.0, 7.0], [7.0, 0.0]]
    """
    x, indices = arr, as_array(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("put_along_axis: with axis=None the indices must have one axis")
        _put_flat(x, indices, values)
        return
    axis = axis_index(axis, x.ndim, "put_along_axis")
    x[_along("put_along_axis", x, indices, axis)] = values


def _put_flat(x, indices, values):
    """x.flat[indices] = values."""
    if x.ndim == 1:
        x[indices] = values
    elif _packed(x):
        x.reshape(-1)[indices] = values
    else:
        below = (indices < -x.size) | (indices >= x.size)
        if below.any():
            bad = int(indices[below][0])
            raise IndexError(f"index {bad} is out of bounds for axis 0 with size {x.size}")
        x[un.unravel_index(indices % max(x.size, 1), x.shape)] = values


def _packed(x):
    """Whether the elements lie in row-major order without gaps."""
    step = x.itemsize
    for extent, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def _target(what, a):
    if not isinstance(a, ndarray):
        raise TypeError(
            f"{what}: argument 1 must be an array of unisono; got {type(a).__name__}; convert with un.asarray"
        )
    return a


def put(a, ind, v, mode="raise"):
    """Set elements of `a`, counted in row-major order, to values, which repeat if they are fewer.

    Parameters
    ----------
    a : array_like
    ind : array_like of int
    v : array_like
    mode : str

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
    >>> a = un.zeros((2, 3))
    >>> un.put(a, [0, -1], [7, 8])
    >>> a.tolist()
    [[7.0, 0.0, 0.0], [0.0, 0.0, 8.0]]
    """
    x = _target("put", a)
    indices = _integers("put", ind).ravel()
    values = as_array(v).ravel()
    if indices.size == 0 or values.size == 0:
        return
    indices = _bounded("put", indices, x.size, mode)
    _put_flat(x, indices, _cycled(values, indices.size))


def _cycled(values, size):
    """The first `size` of the values, repeated as often as needed."""
    if values.size in (1, size):
        return values
    if values.size > size:
        return values[:size]
    return un.tile(values, -(-size // values.size))[:size]


def nonzero(a):
    """Indices of the elements that are not zero, one array per axis.

    Parameters
    ----------
    a : array_like

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
    >>> [i.tolist() for i in un.nonzero(un.asarray([[0, 5], [6, 0]]))]
    [[0, 1], [1, 0]]
    """
    return _engine._nonzero(as_array(a))


def flatnonzero(a):
    """Indices of the elements that are not zero, in row-major order.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray of int64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.flatnonzero([0, 3, 4]).tolist()
    [1, 2]
    """
    return nonzero(as_array(a).ravel())[0]


def argwhere(a):
    """Indices of the elements that are not zero, one row per element.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray of int64, shape (found, axes)

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.argwhere([[0, 5], [7, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    x = as_array(a)
    if x.ndim == 0:
        return argwhere(x.reshape(1))[:, :0]
    return un.stack(nonzero(x), axis=1)


def compress(condition, a, axis=None, out=None):
    """Slices of `a` along an axis where the condition is true.

    Parameters
    ----------
    condition : array_like of bool
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.
    out : ndarray, optional
        Written to and returned; of the shape of the result.

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
    >>> un.compress([True, False, True], [[1, 2, 3], [4, 5, 6]], axis=1).tolist()
    [[1, 3], [4, 6]]
    """
    condition, x = as_array(condition), as_array(a)
    if condition.ndim != 1:
        raise ValueError(f"compress: the condition must have one axis; got {condition.ndim}")
    return take(x, nonzero(condition)[0], axis=axis, out=out)


def extract(condition, arr):
    """Elements of `arr` where the condition, of the same size, is not zero.

    Parameters
    ----------
    condition : array_like of bool
    arr : array_like

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.extract([True, False, True], [1, 2, 3]).tolist()
    [1, 3]
    """
    return take(as_array(arr).ravel(), nonzero(as_array(condition).ravel())[0])


def place(arr, mask, vals):
    """Set the elements under the mask to `vals`, one after another, which repeat.

    Parameters
    ----------
    arr : array_like
    mask : array_like of bool
    vals : array_like

    Returns
    -------
    None
        `arr` is changed.

    Raises
    ------
    ValueError
        There are elements to fill, and no values.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.place(x, x > 1, [9])
    >>> x.tolist()
    [0, 1, 9, 9]
    """
    x = _target("place", arr)
    mask = _same_size("place", x, mask)
    values = as_array(vals).ravel()
    count = _engine._count_nonzero(mask)
    if count == 0:
        return
    if values.size == 0:
        raise ValueError("place: cannot insert from an empty array")
    x[mask] = _cycled(values.astype(x.dtype, copy=False), count)


def putmask(a, mask, values):
    """Set the elements under the mask to those of `values` at the same place, repeated to the size.

    Parameters
    ----------
    a : array_like
    mask : array_like of bool
    values : array_like

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
    >>> a = un.arange(5)
    >>> un.putmask(a, a > 2, [10, 20])
    >>> a.tolist()
    [0, 1, 2, 20, 10]
    """
    x = _target("putmask", a)
    mask = _same_size("putmask", x, mask)
    values = as_array(values)
    if values.size == 0:
        return
    if values.size != 1 and values.shape != x.shape:
        values = _cycled(values.ravel(), x.size).reshape(x.shape)
    copyto(x, values if values.size > 1 else values.reshape(()), where=mask)


def _same_size(what, x, mask):
    mask = as_array(mask).astype("bool", copy=False)
    if mask.size != x.size:
        raise ValueError(
            f"{what}: mask and array must have the same size; got {mask.size} and {x.size}"
        )
    return mask.reshape(x.shape)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy values into `dst`, where the mask is true; both broadcast to its shape.

    Parameters
    ----------
    dst : ndarray
    src : array_like
    casting : str
        Which conversions are allowed.
    where : array_like of bool
        Elements to take.

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
    >>> a = un.zeros(3)
    >>> un.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a.tolist()
    [1.0, 0.0, 3.0]
    """
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto: dst must be an array of unisono; got {type(dst).__name__}")
    if isinstance(src, (bool, int, float, complex)) and not isinstance(src, ndarray):
        _check_rule("copyto", casting)
        if casting != "unsafe" and _kinds[_python_kinds[type(src)]] > _kinds[dst.dtype.kind]:
            raise TypeError(
                f"copyto: cannot cast from a Python {type(src).__name__} to {dst.dtype} by the rule '{casting}'"
            )
    else:
        src = as_array(src)
        check_cast("copyto", src.dtype, dst.dtype, casting)
        extra = src.ndim - dst.ndim
        if extra > 0 and all(n == 1 for n in src.shape[:extra]):
            src = src.reshape(src.shape[extra:])
    if where is True:
        dst[...] = src
        return
    where = as_array(where)
    if where.dtype != "bool":
        raise TypeError(f"copyto: where= must be a mask of bools; got dtype {where.dtype}")
    _engine._assign_where(dst, where, src)


_castings = ("no", "equiv", "safe", "same_kind", "unsafe")
_python_kinds = {bool: "b", int: "u", float: "f", complex: "c"}
_kinds = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def _check_rule(what, casting):
    if casting not in _castings:
        raise ValueError(f"{what}: casting must be one of {', '.join(_castings)}; got {casting!r}")


def check_cast(what, source, target, casting):
    """Raise where NumPy's casting rule does not let `source` into `target`."""
    _check_rule(what, casting)
    if source == target or casting == "unsafe":
        return
    if casting == "safe":
        allowed = promoted(source, target) == target
    else:
        allowed = casting == "same_kind" and _kinds[source.kind] <= _kinds[target.kind]
    if not allowed:
        raise TypeError(f"{what}: cannot cast from {source} to {target} by the rule '{casting}'")


def choose(a, choices, out=None, mode="raise"):
    """Of each place the element of the choice that `a` numbers there; all broadcast.

    Parameters
    ----------
    a : array_like
    choices : sequence of array_like
    out : ndarray, optional
        Written to and returned; of the shape of the result.
    mode : str

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
    >>> un.choose([0, 1, 1], [[1, 2, 3], [10, 20, 30]]).tolist()
    [1, 20, 30]
    """
    which = _integers("choose", a)
    choices = [as_array(c) for c in choices]
    if not choices:
        raise ValueError("choose: needs at least one choice")
    n = len(choices)
    if mode == "raise":
        if ((which < 0) | (which >= n)).any():
            raise ValueError(
                f"choose: an index is out of range of {n} choices; use mode='wrap' or 'clip'"
            )
    else:
        which = _bounded("choose", which, n, mode)
    which, *choices = broadcast([which, *choices])
    result = choices[-1]
    for k in range(n - 2, -1, -1):
        result = un.where(which == k, choices[k], result)
    return store("choose", result.copy() if n == 1 else result, out)


def select(condlist, choicelist, default=0):
    """Of each place the first choice whose condition is true there, else the default.

    Parameters
    ----------
    condlist : sequence of array_like of bool
    choicelist : sequence of array_like
    default

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
    >>> x = un.arange(6)
    >>> un.select([x < 2, x > 3], [x, x * x], 42).tolist()
    [0, 1, 42, 42, 16, 25]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: as many conditions as choices are needed; got {len(condlist)} and {len(choicelist)}"
        )
    if len(condlist) == 0:
        raise ValueError("select: needs at least one condition")
    conditions = [as_array(c) for c in condlist]
    for k, c in enumerate(conditions):
        if c.dtype != "bool":
            raise TypeError(f"select: condition {k} must be bools; got dtype {c.dtype}")
    weak = isinstance(default, (bool, int, float, complex)) and not isinstance(default, ndarray)
    result = default if weak else as_array(default)
    for condition, choice in zip(reversed(conditions), reversed(list(choicelist)), strict=True):
        plain = isinstance(choice, (bool, int, float, complex)) and not isinstance(choice, ndarray)
        result = un.where(condition, choice if plain else as_array(choice), result)
    return result


def ix_(*args):
    """Index that takes the given rows, columns... of an array: an open grid of index arrays.

    Parameters
    ----------
    *args
        Passed on.

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
    >>> un.arange(6).reshape(2, 3)[un.ix_([0, 1], [0, 2])].tolist()
    [[0, 2], [3, 5]]
    """
    made = []
    for k, x in enumerate(args):
        x = as_array(x)
        if x.ndim != 1:
            raise ValueError(f"ix_: every argument must have one axis; got {x.ndim}")
        if x.size == 0:
            x = x.astype("int64")
        if x.dtype == "bool":
            x = nonzero(x)[0]
        made.append(x.reshape((1,) * k + (x.size,) + (1,) * (len(args) - k - 1)))
    return tuple(made)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """View of a diagonal of two axes, as the last axis of the result; read-only.

    Parameters
    ----------
    a : array_like
    offset, axis1, axis2 : int

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
    >>> un.diagonal(un.arange(9).reshape(3, 3), 1).tolist()
    [1, 5]
    """
    view = _diagonal(as_array(a), offset, axis1, axis2)
    return un.broadcast_to(view, view.shape)


def broadcast(arrays):
    """Views of the arrays in their common shape."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [un.broadcast_to(x, shape) for x in arrays]


def _diagonal(x, offset, axis1, axis2):
    """The same view, as writable as `x`."""
    if x.ndim < 2:
        raise ValueError(f"diagonal: needs an array of at least two axes; got {x.ndim}")
    first, second = (axis_index(k, x.ndim, "diagonal") for k in (axis1, axis2))
    if first == second:
        raise ValueError(f"diagonal: axis1 and axis2 must differ; got {axis1} and {axis2}")
    offset = operator.index(offset)
    rows, columns = x.shape[first], x.shape[second]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    steps = [s // x.itemsize for s in x.strides]
    start = 0
    if count:
        start = offset * steps[second] if offset >= 0 else -offset * steps[first]
    rest = [k for k in range(x.ndim) if k not in (first, second)]
    return _engine._strided(
        x,
        (*(x.shape[k] for k in rest), count),
        (*(steps[k] for k in rest), steps[first] + steps[second]),
        start,
    )


def diag(v, k=0):
    """Diagonal of a matrix, or the matrix with that diagonal.

    Parameters
    ----------
    v : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray
        A view of a diagonal, or a matrix with that one.

    Raises
    ------
    ValueError
        More than two axes, or none.

    Examples
    --------
    >>> import unisono as un
    >>> un.diag([1, 2]).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_array(v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag: needs one or two axes; got {x.ndim}")
    n = x.size + abs(k)
    made = un.zeros((n, n), x.dtype, device=x.device)
    _diagonal(made, k, 0, 1)[...] = x
    return made


def diagflat(v, k=0):
    """Matrix whose diagonal holds the elements of `v` in row-major order.

    Parameters
    ----------
    v : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.diagflat([1, 2], 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag(as_array(v).ravel(), k)


def fill_diagonal(a, val, wrap=False):
    """Set the main diagonal of an array, in place; values repeat if they are fewer.

    Parameters
    ----------
    a, val : array_like
    wrap

    Returns
    -------
    None
        `a` is changed.

    Raises
    ------
    ValueError
        Fewer than two axes, or several that differ.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros((2, 2))
    >>> un.fill_diagonal(x, 5)
    >>> x.tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    x = _target("fill_diagonal", a)
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: needs at least two axes; got {x.ndim}")
    steps = [s // x.itemsize for s in x.strides]
    count = min(x.shape)
    if x.ndim > 2:
        if len(set(x.shape)) > 1:
            raise ValueError("fill_diagonal: beyond two axes all extents must be equal")
    elif wrap and x.shape[0] > x.shape[1]:
        # Beyond its end the diagonal starts again, one row further down.
        columns = x.shape[1]
        places = un.arange(0, x.size, columns + 1)
        x[places // columns, places % columns] = _cycled(as_array(val).ravel(), places.size)
        return
    line = _engine._strided(x, (count,), (sum(steps),), 0)
    line[...] = _cycled(as_array(val).ravel(), count)


def diag_indices(n, ndim=2):
    """Index of the main diagonal of an array of `ndim` axes of extent `n`.

    Parameters
    ----------
    n : int, optional
    ndim : int
        Axes of the index arrays.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    return (un.arange(n),) * ndim


def diag_indices_from(arr):
    """Index of the main diagonal of `arr`, whose extents are equal.

    Parameters
    ----------
    arr : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        The axes differ, or there are fewer than two.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.diag_indices_from(un.eye(2))]
    [[0, 1], [0, 1]]
    """
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError(
            f"diag_indices_from: needs two or more axes of equal extent; got {arr.shape}"
        )
    return diag_indices(arr.shape[0], arr.ndim)


def tri(N, M=None, k=0, dtype=None, *, like=None):
    """Matrix of ones at and below a diagonal, zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int
        Number of points.
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.
    dtype : dtype, optional
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray, shape (N, M)

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    lower = _lower(N, N if M is None else M, k)
    return lower.astype("float64" if dtype is None else dtype)


def _lower(rows, columns, k):
    return un.arange(rows).reshape(-1, 1) + k >= un.arange(columns)


def tril(m, k=0):
    """Lower triangle of the last two axes; zeros above.

    Parameters
    ----------
    m : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        An array without axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.tril(un.ones((2, 2), int)).tolist()
    [[1, 0], [1, 1]]
    """
    x = as_array(m)
    return un.where(_triangle("tril", x, k), x, un.zeros((), x.dtype, device=x.device))


def triu(m, k=0):
    """Upper triangle of the last two axes; zeros below.

    Parameters
    ----------
    m : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        An array without axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.triu([[1, 2], [3, 4]]).tolist()
    [[1, 2], [0, 4]]
    """
    x = as_array(m)
    return un.where(_triangle("triu", x, k - 1), un.zeros((), x.dtype, device=x.device), x)


def _triangle(what, x, k):
    if x.ndim == 0:
        raise ValueError(f"{what}: needs an array of at least one axis")
    return _lower(x.shape[-2] if x.ndim > 1 else x.shape[0], x.shape[-1], k)


def tril_indices(n, k=0, m=None):
    """Index of the lower triangle of an array of shape (n, m).

    Parameters
    ----------
    n : int, optional
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.
    m : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return nonzero(_lower(n, n if m is None else m, k))


def triu_indices(n, k=0, m=None):
    """Index of the upper triangle of an array of shape (n, m).

    Parameters
    ----------
    n : int, optional
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.
    m : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(~_lower(n, n if m is None else m, k - 1))


def tril_indices_from(arr, k=0):
    """Index of the lower triangle of `arr`.

    Parameters
    ----------
    arr : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        The array has not two axes.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.tril_indices_from(un.eye(2))]
    [[0, 1, 1], [0, 0, 1]]
    """
    return tril_indices(*_matrix("tril_indices_from", arr, k))


def triu_indices_from(arr, k=0):
    """Index of the upper triangle of `arr`.

    Parameters
    ----------
    arr : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        The array has not two axes.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.triu_indices_from(un.eye(2))]
    [[0, 0, 1], [0, 1, 1]]
    """
    return triu_indices(*_matrix("triu_indices_from", arr, k))


def _matrix(what, arr, k):
    if arr.ndim != 2:
        raise ValueError(f"{what}: needs two axes; got {arr.ndim}")
    return arr.shape[0], k, arr.shape[1]


def mask_indices(n, mask_func, k=0):
    """Index of the elements that ``mask_func(ones((n, n)), k)`` leaves.

    Parameters
    ----------
    n : int, optional
    mask_func : callable
        Takes a matrix and `k`, as `triu`.
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.mask_indices(2, un.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(un.ones((n, n), "int64"), k) != 0)


def indices(dimensions, dtype=int, sparse=False):
    """Index arrays of a grid of that shape: stacked, or open with ``sparse``.

    Parameters
    ----------
    dimensions : sequence of int
    dtype : dtype, optional
    sparse : bool

    Returns
    -------
    ndarray, or a tuple of them if `sparse`

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    shape = tuple(dimensions)
    n = len(shape)
    lines = [
        un.arange(extent)
        .astype(dtype, copy=False)
        .reshape((1,) * k + (extent,) + (1,) * (n - k - 1))
        for k, extent in enumerate(shape)
    ]
    if sparse:
        return tuple(lines)
    made = un.empty((n, *shape), dtype)
    for k, line in enumerate(lines):
        made[k] = line
    return made


def unravel_index(indices, shape, order="C"):
    """Indices per axis of places counted in row-major (or with "F" column-major) order.

    Parameters
    ----------
    indices : array_like of int
    shape : int or tuple of int
    order : {'C', 'F', 'A', 'K'}
        Order of elements, or of memory.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A negative extent.

    Examples
    --------
    >>> import unisono as un
    >>> [int(i) for i in un.unravel_index(7, (2, 5))]
    [1, 2]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    x = as_array(indices)
    if x.dtype.kind not in "iu" and x.size:
        raise TypeError(f"unravel_index: expected integers; got dtype {x.dtype}")
    x = x.astype("int64", copy=False)
    if order not in ("C", "F"):
        raise ValueError(f"unravel_index: order must be 'C' or 'F'; got {order!r}")
    size = math.prod(shape)
    if x.size and ((x < 0) | (x >= size)).any():
        raise ValueError(
            f"unravel_index: an index is out of bounds for an array of shape {shape} with size {size}"
        )
    if not shape and x.ndim:
        raise ValueError("unravel_index: multiple indices are not there for 0-d arrays")
    made = []
    for extent in shape if order == "F" else reversed(shape):
        made.append(x % max(extent, 1))
        x = x // max(extent, 1)
    return tuple(made if order == "F" else reversed(made))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Places in row-major (or with "F" column-major) order of indices per axis.

    Parameters
    ----------
    multi_index : tuple of array_like of int
    dims : tuple of int
    mode : str
    order : {'C', 'F', 'A', 'K'}
        Order of elements, or of memory.

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
    >>> int(un.ravel_multi_index((1, 2), (2, 5)))
    7
    """
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    parts = [_integers("ravel_multi_index", i) for i in multi_index]
    if len(parts) != len(dims):
        raise ValueError(
            f"ravel_multi_index: as many index arrays as extents are needed; got {len(parts)} and {len(dims)}"
        )
    if order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F'; got {order!r}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    bounded = []
    for part, extent, how in zip(parts, dims, modes, strict=True):
        if how == "raise":
            if ((part < 0) | (part >= extent)).any():
                raise ValueError("ravel_multi_index: an index is out of range; use mode='wrap'")
            bounded.append(part)
        else:
            bounded.append(_bounded("ravel_multi_index", part, extent, how))
    pairs = list(zip(bounded, dims, strict=True))
    total = un.asarray(0)
    for part, extent in reversed(pairs) if order == "F" else pairs:
        total = total * extent + part
    return total
