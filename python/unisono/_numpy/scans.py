"""Running sums and products along an axis."""

import unisono

from .. import _engine
from .._arrays.axes import as_array as _as
from .._arrays.axes import axis_index, flat, store


def _scan(what, op, x, axis, dtype, out):
    x = _as(x)
    if axis is None:
        x, axis = flat(x), 0
    elif x.ndim == 0:
        x, axis = x.reshape(1), axis_index(axis, 1, what)
    else:
        axis = axis_index(axis, x.ndim, what)
    if dtype is None and out is not None:
        dtype = out.dtype
    return store(what, _scanned(op, x, axis, dtype), out)


def _scanned(op, x, axis, dtype):
    """Running combinations; sums and products of bools are "or" and "and"."""
    if dtype is not None and unisono.dtype(dtype) == "bool":
        op = "bitwise_or" if op == "add" else "bitwise_and"
        return _engine._scan(op, x.astype("bool", copy=False), axis, None)
    return _engine._scan(op, x, axis, dtype)


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sum along an axis; docs/numbers.md has the order of additions.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the array is flattened.
    dtype : dtype, optional
        Dtype of the sum; by default small integers are added in int64.
    out : ndarray, optional

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
    >>> un.cumsum([1, 2, 3]).tolist()
    [1, 3, 6]
    """
    return _scan("cumsum", "add", a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running product along an axis; see `cumsum` for the parameters.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the array is flattened in row-major order.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

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
    >>> un.cumprod([1, 2, 3]).tolist()
    [1, 2, 6]
    """
    return _scan("cumprod", "multiply", a, axis, dtype, out)


def _cumulative(what, op, start, x, axis, dtype, out, include_initial):
    x = _as(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(
                f"{what}: axis must be given for arrays of several dimensions; got shape {x.shape}"
            )
        axis = 0
    if x.ndim == 0:
        x = x.reshape(1)
    axis = axis_index(axis, x.ndim, what)
    if dtype is None and out is not None:
        dtype = out.dtype
    made = _scanned(op, x, axis, dtype)
    if include_initial:
        shape = list(made.shape)
        shape[axis] += 1
        whole = unisono.empty(tuple(shape), made.dtype, device=made.device)
        whole[_at(axis, slice(0, 1))] = start
        whole[_at(axis, slice(1, None))] = made
        made = whole
    return store(what, made, out)


def _at(axis, item):
    """An index that selects along one axis."""
    return (slice(None),) * axis + (item,)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sum (the array API's `cumsum`), from 0 on with `include_initial`.

    Parameters
    ----------
    x : array_like
    axis : int, optional
        May be omitted if the array has one axis.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    include_initial : bool
        Include the initial value as the first element.

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
    >>> un.cumulative_sum([1, 2, 3], include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return _cumulative("cumulative_sum", "add", 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running product (the array API's `cumprod`), from 1 on with `include_initial`.

    Parameters
    ----------
    x : array_like
    axis : int, optional
        May be omitted if the array has one axis.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    include_initial : bool
        Include the initial value as the first element.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the array has several axes and `axis` is not given.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.cumulative_prod([1, 2, 3]).tolist()
    [1, 2, 6]
    """
    return _cumulative("cumulative_prod", "multiply", 1, x, axis, dtype, out, include_initial)
