"""Arithmetic of float16 with the names of Numba's ``cuda.fp16``, in kernels and from Python; loaded when first named.

Each result is rounded once: functions of one number are those of float32, rounded.
"""

from __future__ import annotations

import numpy as np

from .._jit import jit


@jit
def hadd(a, b):
    """``a + b``."""
    return np.float16(a) + np.float16(b)


@jit
def hsub(a, b):
    """``a - b``."""
    return np.float16(a) - np.float16(b)


@jit
def hmul(a, b):
    """``a * b``."""
    return np.float16(a) * np.float16(b)


@jit(error_model="numpy")
def hdiv(a, b):
    """``a / b``."""
    return np.float16(a) / np.float16(b)


@jit
def hfma(a, b, c):
    """``a * b + c``."""
    return np.float16(
        np.float64(np.float16(a)) * np.float64(np.float16(b)) + np.float64(np.float16(c))
    )


@jit
def hneg(a):
    """``-a``."""
    return -np.float16(a)


@jit
def habs(a):
    """``abs(a)``."""
    return abs(np.float16(a))


@jit
def heq(a, b):
    """``a == b``."""
    return np.float16(a) == np.float16(b)


@jit
def hne(a, b):
    """``a != b``."""
    return np.float16(a) != np.float16(b)


@jit
def hgt(a, b):
    """``a > b``."""
    return np.float16(a) > np.float16(b)


@jit
def hge(a, b):
    """``a >= b``."""
    return np.float16(a) >= np.float16(b)


@jit
def hlt(a, b):
    """``a < b``."""
    return np.float16(a) < np.float16(b)


@jit
def hle(a, b):
    """``a <= b``."""
    return np.float16(a) <= np.float16(b)


@jit
def hmax(a, b):
    """The larger one; the other one of NaN."""
    return np.fmax(np.float16(a), np.float16(b))


@jit
def hmin(a, b):
    """The smaller one; the other one of NaN."""
    return np.fmin(np.float16(a), np.float16(b))


@jit
def hsin(a):
    """Sine."""
    return np.float16(np.sin(np.float32(a)))


@jit
def hcos(a):
    """Cosine."""
    return np.float16(np.cos(np.float32(a)))


@jit(error_model="numpy")
def hlog(a):
    """Natural logarithm."""
    return np.float16(np.log(np.float32(a)))


@jit(error_model="numpy")
def hlog2(a):
    """Logarithm to the base 2."""
    return np.float16(np.log2(np.float32(a)))


@jit(error_model="numpy")
def hlog10(a):
    """Logarithm to the base 10."""
    return np.float16(np.log10(np.float32(a)))


@jit
def hexp(a):
    """e to the power of `a`."""
    return np.float16(np.exp(np.float32(a)))


@jit
def hexp2(a):
    """2 to the power of `a`."""
    return np.float16(np.exp2(np.float32(a)))


@jit
def hexp10(a):
    """10 to the power of `a`."""
    return np.float16(np.float32(10) ** np.float32(a))


@jit
def hsqrt(a):
    """Square root."""
    return np.float16(np.sqrt(np.float32(a)))


@jit(error_model="numpy")
def hrsqrt(a):
    """1 by the square root."""
    return np.float16(np.float32(1) / np.sqrt(np.float32(a)))


@jit(error_model="numpy")
def hrcp(a):
    """``1 / a``."""
    return np.float16(1) / np.float16(a)


@jit
def hceil(a):
    """The whole number not below."""
    return np.float16(np.ceil(np.float32(a)))


@jit
def hfloor(a):
    """The whole number not above."""
    return np.float16(np.floor(np.float32(a)))


@jit
def htrunc(a):
    """The whole number next to it towards 0."""
    return np.float16(np.trunc(np.float32(a)))


@jit
def hrint(a):
    """The nearest whole number, an even one of two."""
    return np.float16(np.rint(np.float32(a)))
