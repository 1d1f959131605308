"""Functions of NumPy for each element that are composed of others, as unisono/_numpy/composed.py has them for arrays."""

from __future__ import annotations

import math

import numpy as np

from . import jit
from .float_library import scaled

_LOG_2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634


@jit
def fix(x):
    return np.trunc(x)


@jit
def divmod(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@jit
def modf(x):
    y = x * 1.0
    finite = np.where(np.abs(y) == np.inf, 0.0, y)
    return np.copysign(finite - np.trunc(finite), y), np.trunc(y)


@jit
def frexp(x):
    if isinstance(x, np.ndarray):
        y = x * 1.0
        mantissa = np.empty(y.shape, y.dtype)
        exponent = np.empty(y.shape, np.int32)
        of_all = y.reshape(-1)
        to_mantissa = mantissa.reshape(-1)
        to_exponent = exponent.reshape(-1)
        for i in range(y.size):
            to_mantissa[i], to_exponent[i] = math.frexp(of_all[i])
        return mantissa, exponent
    else:
        m, e = math.frexp(x)
        return m, np.int32(e)


@jit
def heaviside(x1, x2):
    return np.where(x1 == 0, x2, np.where(x1 > 0, 1.0, np.where(x1 < 0, 0.0, x1)))


@jit
def logaddexp(x1, x2):
    larger = np.maximum(x1, x2)
    smaller = np.log1p(np.exp(-np.abs(x1 - x2)))
    return np.where(x1 == x2, larger + _LOG_2, larger + smaller)


@jit
def logaddexp2(x1, x2):
    larger = np.maximum(x1, x2)
    smaller = np.log1p(np.exp2(-np.abs(x1 - x2))) * _LOG2_E
    return np.where(x1 == x2, larger + 1.0, larger + smaller)


@jit
def spacing(x):
    finite = np.isfinite(x)
    y = np.where(finite, x, 1.0)
    towards = np.where(y == 0, np.inf, np.copysign(np.inf, y))
    return np.where(finite, np.nextafter(y, towards) - y, np.nan)


@jit
def _ldexp(x, n):
    # Beyond these bounds the result is 0 or infinite whatever the number is.
    return scaled(float(x), max(-5000, min(int(n), 5000)))


@jit
def ldexp(x1, x2):
    if isinstance(x1, np.ndarray) or isinstance(x2, np.ndarray):
        y = x1 * 1.0
        made = np.empty((y * (x2 * 0)).shape, y.dtype)
        numbers = np.empty(made.shape, y.dtype)
        numbers[...] = y
        exponents = np.empty(made.shape, np.int64)
        exponents[...] = x2
        of_numbers, of_exponents, to = numbers.ravel(), exponents.ravel(), made.reshape(-1)
        for i in range(made.size):
            to[i] = _ldexp(of_numbers[i], of_exponents[i])
        return made
    else:
        return _ldexp(x1, x2)


implementations = {
    name: function
    for name, function in globals().items()
    if hasattr(function, "py_func") and not name.startswith("_")
}
