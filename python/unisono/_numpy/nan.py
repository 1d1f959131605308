"""Reductions and running sums that leave NaN out: NumPy's nan functions."""

import math
import warnings

import unisono

from .. import _engine, exceptions
from .._arrays.axes import as_array as _as
from .._arrays.axes import axis_error, store
from . import statistics as _statistics


def _without(x, fill):
    """`x` with `fill` in place of NaN, and where it is not NaN (True where it cannot be)."""
    x = _as(x)
    if x.dtype.kind not in "fc":
        return x, True
    there = x == x
    return unisono.where(there, x, fill), there


def warn_where(condition, text, depth=2):
    """Warn the user, so many calls above, where a condition is true anywhere."""
    if isinstance(condition, _engine._Array) and bool(condition.any()):
        warnings.warn(text, RuntimeWarning, stacklevel=depth + 2)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Sum over `axis`, NaN counting as 0.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    initial : number, optional
    where : array_like of bool
        Elements to include.

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
    >>> float(un.nansum([1.0, un.nan, 2.0]))
    3.0
    """
    return _statistics.full_sum(_without(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product over `axis`, NaN counting as 1.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    initial : number, optional
    where : array_like of bool
        Elements to include.

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
    >>> un.nanprod([2, un.nan, 3]).item()
    6.0
    """
    return _statistics.full_prod(_without(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def _extreme(name, x, axis, out, keepdims, initial, where, fill):
    x = _as(x)
    full = _statistics.full_max if name == "nanmax" else _statistics.full_min
    if x.dtype.kind == "c":
        fill = complex(fill, fill)
    elif x.dtype.kind != "f":
        return full(x, axis, out, keepdims, initial, where)
    elif initial is None and where is True and x.size and isinstance(x, _engine._Array):
        combine = unisono.fmax if name == "nanmax" else unisono.fmin
        axes = axis if axis is None or isinstance(axis, tuple) else (axis,)
        made = combine._reduce(x, axes, bool(keepdims), None)
        warn_where(made != made, "All-NaN slice encountered")
        return store(name, made, out)
    filled, there = _without(x, fill)
    made = full(filled, axis, None, keepdims, initial, where)
    if initial is None:
        something = _statistics.full_any(there, axis, None, keepdims)
        made = unisono.where(something, made, math.nan)
        warn_where(~something, "All-NaN slice encountered")
    return store(name, made, out)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Maximum over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    initial : number, optional
    where : array_like of bool
        Elements to include.

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
    >>> un.nanmax([2, un.nan, 3]).item()
    3.0
    """
    return _extreme("nanmax", a, axis, out, keepdims, initial, where, -math.inf)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Minimum over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    initial : number, optional
    where : array_like of bool
        Elements to include.

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
    >>> un.nanmin([2, un.nan, 3]).item()
    2.0
    """
    return _extreme("nanmin", a, axis, out, keepdims, initial, where, math.inf)


def _mask(there, where):
    if where is True or there is True:
        return there if where is True else where
    return there & _as(where).astype("bool", copy=False)


def _check_dtype(x, dtype):
    """Refuse to compute what may be NaN in integers, as NumPy does."""
    if dtype is not None and x.dtype.kind in "fc" and unisono.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Mean over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    where : array_like of bool
        Elements to include.

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
    >>> float(un.nanmean([1.0, un.nan, 2.0]))
    1.5
    """
    a, there = _without(a, 0)
    _check_dtype(a, dtype)
    try:
        of = _statistics.mean if there is True else _statistics.plain_mean
        made = of(a, axis, dtype, out, keepdims, where=_mask(there, where))
    except exceptions.AxisError as error:
        raise axis_error("nanmean", error) from None
    if there is not True:
        nothing = ~_statistics.full_any(_mask(there, where), axis, None, keepdims)
        warn_where(nothing, "Mean of empty slice", 1)
    return made


def nanvar(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """Variance over `axis`, ignoring NaN; see `var` for the parameters.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    ddof : int
        The divisor is the number of elements minus `ddof`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    where : array_like of bool
        Elements to include.
    mean : array_like, optional
        The mean, if it is already known.
    correction : int, optional
        As `ddof`.

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
    >>> un.nanvar([1, un.nan, 3]).item()
    1.0
    """
    made = _variance(a, axis, dtype, ddof, keepdims, where, mean, correction)
    return store("nanvar", made, out)


def _variance(x, axis, dtype, ddof, keepdims, where, mean, correction):
    x, there = _without(x, 0)
    _check_dtype(x, dtype)
    where = _mask(there, where)
    if correction is not None and there is not True:
        if ddof != 0:
            raise ValueError("nanvar: ddof and correction are one thing; give only one of them")
        ddof, correction = correction, None
    try:
        if there is True:
            made = _statistics.var(
                x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
            )
        else:
            made = _statistics.plain_var(x, axis, dtype, None, ddof, keepdims, where, mean)
    except exceptions.AxisError as error:
        raise axis_error("nanvar", error) from None
    if there is not True:
        few = _statistics._counted(x, axis, where, keepdims) <= ddof
        warn_where(few, "Degrees of freedom <= 0 for slice.")
        made = unisono.where(few, math.nan, made)
    return made


def nanstd(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """Standard deviation over `axis`, ignoring NaN; see `std` for the parameters.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    ddof : int
        The divisor is the number of elements minus `ddof`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    where : array_like of bool
        Elements to include.
    mean : array_like, optional
        The mean, if it is already known.
    correction : int, optional
        As `ddof`.

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
    >>> un.nanstd([1, un.nan, 3]).item()
    1.0
    """
    made = _variance(a, axis, dtype, ddof, keepdims, where, mean, correction)
    return store("nanstd", unisono.sqrt(made), out)


def _arg(name, x, axis, out, keepdims, fill):
    filled, there = _without(x, fill)
    if there is not True and filled.size and not bool(there.any(axis=axis).all()):
        raise ValueError(f"{name}: All-NaN slice encountered")
    function = _statistics.argmax if name == "nanargmax" else _statistics.argmin
    return function(filled, axis, out, keepdims=keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first largest element that is not NaN.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the index counts in row-major order over all elements.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.

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
    >>> int(un.nanargmax([un.nan, 2.0, 3.0]))
    2
    """
    return _arg("nanargmax", a, axis, out, keepdims, -math.inf)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first smallest element that is not NaN.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the index counts in row-major order over all elements.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    ValueError
        If all elements along an axis are NaN.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.nanargmin([un.nan, 2, 1]).item()
    2
    """
    return _arg("nanargmin", a, axis, out, keepdims, math.inf)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sum along an axis, NaN counting as 0.

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
    >>> un.nancumsum([2, un.nan, 3]).tolist()
    [2.0, 2.0, 5.0]
    """
    return unisono.cumsum(_without(a, 0)[0], axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Running product along an axis, NaN counting as 1.

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
    >>> un.nancumprod([2, un.nan, 3]).tolist()
    [2.0, 2.0, 6.0]
    """
    return unisono.cumprod(_without(a, 1)[0], axis, dtype, out)
