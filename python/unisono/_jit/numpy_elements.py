"""Functions of NumPy for each element that compiled code calls and that are written in Python themselves."""

from __future__ import annotations

import numpy as np

from . import jit


def these_arguments():
    """A call of it says that compiled code leaves these arguments to the functions of arrays."""


@jit
def square(x):
    return x * x


@jit
def deg2rad(x, out=None):
    if out is not None:
        np.multiply(x, np.pi / 180.0, out)
        return out
    return x * (np.pi / 180.0)


@jit
def rad2deg(x, out=None):
    if out is not None:
        np.multiply(x, 180.0 / np.pi, out)
        return out
    return x * (180.0 / np.pi)


radians, degrees = deg2rad, rad2deg


@jit
def around(a, decimals=0):
    """As NumPy rounds floats: through the power of ten, which it multiplies from 1e9 on."""
    if isinstance(a, np.ndarray):
        if a.dtype != np.float64 and a.dtype != np.float32:
            return these_arguments()
    elif not isinstance(a, (float, np.floating)):
        return these_arguments()
    digits = abs(decimals)
    power = 10.0 ** min(digits, 9)
    for _ in range(9, digits):
        power *= 10.0
    if decimals >= 0:
        return np.rint(a * power) / power
    return np.rint(a / power) * power


round = around


@jit
def iscomplex(x):
    if not isinstance(x, np.ndarray):
        return these_arguments()
    return x.imag != 0


@jit
def isreal(x):
    if not isinstance(x, np.ndarray):
        return these_arguments()
    return x.imag == 0


@jit
def isposinf(x):
    return x == np.inf


@jit
def isneginf(x):
    return x == -np.inf


@jit
def iscomplexobj(x):
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "c"
    return isinstance(x, complex)


@jit
def isrealobj(x):
    return not iscomplexobj(x)


@jit
def asarray_chkfinite(a):
    if not isinstance(a, np.ndarray):
        return these_arguments()
    if not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a
