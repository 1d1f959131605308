"""Functions of NumPy that leave NaN out, which compiled code calls: of all elements of an array."""

from __future__ import annotations

import numpy as np

from . import jit
from .numpy_elements import these_arguments
from .numpy_library import _quantile


@jit
def _like(x, a):
    """x as a number of the array's dtype."""
    if a.dtype.itemsize == 4:
        return np.float32(x)
    else:
        return np.float64(x)


@jit
def _numbers(a):
    """The elements that are numbers, in order of value, as floats."""
    flat = a.ravel() * 1.0
    return np.sort(flat[~np.isnan(flat)])


@jit
def nanprod(a):
    if a.dtype.kind in "biu":
        return np.prod(a)
    else:
        return np.prod(np.where(np.isnan(a), 1.0, a))


@jit
def nancumsum(a):
    if a.dtype.kind in "biu":
        return np.cumsum(a.ravel())
    else:
        flat = a.ravel()
        return np.cumsum(np.where(np.isnan(flat), 0.0, flat))


@jit
def nancumprod(a):
    if a.dtype.kind in "biu":
        return np.cumprod(a.ravel())
    else:
        flat = a.ravel()
        return np.cumprod(np.where(np.isnan(flat), 1.0, flat))


@jit
def nanvar(a, ddof=0):
    if a.dtype.kind in "biuc":
        return these_arguments()
    there = ~np.isnan(a)
    n = np.sum(there)
    s = np.sum(np.where(there, a, 0.0))
    if n - ddof <= 0:
        return _like(np.nan, a)
    apart = np.where(there, a - _like(s / n, a), 0.0)
    return _like(np.sum(apart * apart) / (n - ddof), a)


@jit
def nanstd(a, ddof=0):
    if a.dtype.kind in "biuc":
        return these_arguments()
    return np.sqrt(nanvar(a, ddof))


@jit
def nanargmax(a):
    if a.dtype.kind in "biu":
        return np.argmax(a)
    else:
        if np.all(np.isnan(a)):
            raise ValueError("All-NaN slice encountered")
        return np.argmax(np.where(np.isnan(a), -np.inf, a))


@jit
def nanargmin(a):
    if a.dtype.kind in "biu":
        return np.argmin(a)
    else:
        if np.all(np.isnan(a)):
            raise ValueError("All-NaN slice encountered")
        return np.argmin(np.where(np.isnan(a), np.inf, a))


@jit
def nanmedian(a):
    if a.dtype.kind == "c":
        return these_arguments()
    ordered = _numbers(a)
    n = len(ordered)
    if n == 0:
        return _like(np.nan, ordered)
    if n % 2 == 1:
        return ordered[n // 2]
    return (ordered[n // 2 - 1] + ordered[n // 2]) / _like(2.0, ordered)


@jit
def _part(ordered, q, message):
    if q < 0 or q > 1:
        raise ValueError(message)
    return _quantile(ordered, q) if len(ordered) > 0 else np.nan


@jit
def nanquantile(a, q):
    if a.dtype.kind == "c":
        return these_arguments()
    message = "Quantiles must be in the range [0, 1]"
    ordered = _numbers(a)
    if isinstance(q, (int, float)):
        return _part(ordered, q, message)
    return np.array([_part(ordered, x, message) for x in q])


@jit
def nanpercentile(a, q):
    if a.dtype.kind == "c":
        return these_arguments()
    message = "Percentiles must be in the range [0, 100]"
    ordered = _numbers(a)
    if isinstance(q, (int, float)):
        return _part(ordered, q / 100, message)
    return np.array([_part(ordered, x / 100, message) for x in q])


@jit
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return these_arguments()
    high = np.finfo(x.dtype).max if posinf is None else posinf
    low = np.finfo(x.dtype).min if neginf is None else neginf
    made = x.copy() if copy else x
    made[np.isnan(made)] = nan
    is_high = made == np.inf
    is_low = made == -np.inf
    made[is_high] = high
    made[is_low] = low
    return made


implementations = {
    name: function
    for name, function in globals().items()
    if hasattr(function, "py_func") and not name.startswith("_")
}
