"""Functions that pick, place and count elements: take, put, nonzero, choose, diagonals, triangles, index grids."""

import unisono as un

from .._engine import _Array
from .axes import as_array, as_array_beside, as_array_within, axis_index, byte_strides, store


def _integers(what, x, *others):
    """`x` as an array of integers beside `others`; an empty sequence has no dtype."""
    made = as_array_beside(x, *others)
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
        By default the array is flattened in row-major order.
    out : ndarray, optional
    mode : {"raise", "wrap", "clip"}
        How indices out of range are handled.

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
    >>> un.take([10, 20, 30], [2, 0, -1]).tolist()
    [30, 10, 30]
    """
    x = as_array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    elif x.ndim == 0:
        x = x.reshape(1)
    axis = axis_index(axis, x.ndim, "take")
    indices = _bounded("take", _integers("take", indices, x), x.shape[axis], mode)
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
            key.append(un.arange(x.shape[k], device=x.device).reshape(shape))
    return tuple(key)


def take_along_axis(arr, indices, axis=-1):
    """Elements along an axis where `indices` holds their indices, as `argsort` gives them.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
    axis : int or None
        None flattens the array in row-major order.

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
    >>> un.take_along_axis(un.asarray([[10, 30, 20]]), un.asarray([[0, 2, 1]]), axis=1).tolist()
    [[10, 20, 30]]
    """
    x, indices = as_array_beside(arr, indices), as_array_beside(indices, arr)
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
    axis : int or None
        None flattens the array in row-major order.

    Returns
    -------
    None
        `arr` is changed.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros((2, 2))
    >>> un.put_along_axis(x, [[1], [0]], 7, axis=1)
    >>> x.tolist()
    [[0.0, 7.0], [7.0, 0.0]]
    """
    x, indices = arr, as_array_beside(indices, arr)
    values = as_array_beside(values, x)
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
    elif x.mesh is None and _packed(x):  # on a mesh another shape is a copy
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
    for extent, stride in zip(reversed(x.shape), reversed(byte_strides(x)), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def _target(what, a):
    if not isinstance(a, _Array):
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

    Raises
    ------
    TypeError
        If `a`, `ind` or `v` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> a = un.zeros((2, 3))
    >>> un.put(a, [0, -1], [7, 8])
    >>> a.tolist()
    [[7.0, 0.0, 0.0], [0.0, 0.0, 8.0]]
    """
    x = _target("put", a)
    indices = _integers("put", ind, x).ravel()
    values = as_array_within(v, x).ravel()
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
