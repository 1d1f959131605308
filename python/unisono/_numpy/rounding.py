"""Rounding, limits, and replacement of NaN and infinity."""

import unisono as un

from .. import _engine
from .._arrays.axes import as_array, as_array_beside, number_without_axes
from .._arrays.functions import _renamed
from .convolution import _into, _missing


def clip(a, min=_missing, max=_missing, out=None, *, a_min=_missing, a_max=_missing, **options):
    """Limit the elements to a range.

    Parameters
    ----------
    a : array_like
    min, max : array_like or None
        Limits, broadcast with `a`; None means no limit. ``a_min`` and ``a_max`` are accepted, too.
    out : ndarray, optional

    Returns
    -------
    ndarray
        Its dtype is that of `a` and the limits; NaN if an operand is NaN.

    Raises
    ------
    TypeError
        If `a`, `min` or `max` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.clip(un.arange(6), 1, 4).tolist()
    [1, 1, 2, 3, 4, 4]
    """
    limits = []
    for name, one, other in (("min", min, a_min), ("max", max, a_max)):
        if one is not _missing and other is not _missing:
            raise ValueError(f"clip: {name}= and a_{name}= are one limit; give it once")
        given = other if one is _missing else one
        limits.append(None if given is _missing else given)
    low, high = limits
    x = as_array_beside(a, low, high)
    low, high = (_reachable(x, limit, lower) for limit, lower in ((low, True), (high, False)))
    if low is None and high is None:
        result = x.copy()
        return _into(number_without_axes(result), out)
    if low is None:
        return un.minimum(x, high, out=out, **options)
    if high is None:
        return un.maximum(x, low, out=out, **options)
    if isinstance(high, _engine._Array):  # all three make the dtype
        x = x.astype(un.result_type(x, low, high), copy=False)
    return un.minimum(un.maximum(x, low), high, out=out, **options)


def _reachable(x, limit, lower):
    """A Python integer beyond the range of an integer dtype limits nothing, or everything."""
    if type(limit) is not int or x.dtype.kind not in "iu":
        return limit
    bits = 8 * x.dtype.itemsize
    lowest, highest = (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if x.dtype.kind == "i" else (0, 2**bits - 1)
    )
    if lower:
        return None if limit < lowest else limit
    return None if limit > highest else limit


def _power_of_ten(n):
    return float(10**n) if n <= 308 else un.inf


def _of_parts(real, imag, like):
    """The complex numbers of two arrays; a product with 1j would make NaN of what is infinite."""
    made = un.empty_like(like)
    made.real, made.imag = real, imag
    return made if made.ndim else made[()]


def round(a, decimals=0, out=None):
    """Round to a number of decimals; halves go to the even neighbour.

    Parameters
    ----------
    a : array_like
    decimals : int
        Number of decimals; negative numbers are digits before the decimal point.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of the array's dtype

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.around([1.25, 17.0], 1).tolist()
    [1.2, 17.0]
    """
    x = as_array(a)
    decimals = int(decimals)
    if x.dtype.kind == "b":
        result = x.astype("float16" if hasattr(un, "float16") else "float64")
    elif x.dtype.kind == "c":
        result = _of_parts(round(x.real, decimals), round(x.imag, decimals), x)
    elif x.dtype.kind in "iu":
        if decimals >= 0:
            result = x.copy()
        else:
            step = _power_of_ten(-decimals)
            result = (un.rint(x / step) * step).astype(x.dtype)
    elif decimals == 0:
        return un.rint(x, out=out)
    else:
        scale = _power_of_ten(abs(decimals))
        result = un.rint(x * scale) / scale if decimals > 0 else un.rint(x / scale) * scale
    return _into(number_without_axes(result), out)


around = _renamed(round, "around")


def fix(x, out=None):
    """Round towards zero.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.fix([1.7, -1.7]).tolist()
    [1.0, -1.0]
    """
    return un.trunc(x, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers (the largest of the dtype by default).

    Parameters
    ----------
    x : array_like
    copy : bool, optional
    nan : float
    posinf, neginf : float, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.
    ValueError
        If a replacement does not broadcast to it.

    Examples
    --------
    >>> import unisono as un
    >>> un.nan_to_num([un.nan, 1.0], nan=0.0).tolist()
    [0.0, 1.0]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (x.real, x.imag)]
        result = _of_parts(*parts, x)
    elif x.dtype.kind != "f":
        return number_without_axes(x.copy() if copy else x)
    else:
        largest = {2: 65504.0, 4: 2.0**128 - 2.0**104, 8: 1.7976931348623157e308}[x.dtype.itemsize]
        high = largest if posinf is None else posinf
        low = -largest if neginf is None else neginf
        result = un.where(
            un.isnan(x), nan, un.where(x == un.inf, high, un.where(x == -un.inf, low, x))
        )
        if result.shape != x.shape:
            raise ValueError(
                f"nan_to_num: nan=, posinf= and neginf= are broadcast to x; got what makes {tuple(result.shape)} of "
                f"{tuple(x.shape)}; give numbers, or arrays of x's shape"
            )
        result = result.astype(x.dtype, copy=False)
    if not copy and x.ndim:
        x[...] = result
        return x
    return result
