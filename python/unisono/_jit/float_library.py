"""Functions of ``math`` and ``cmath`` for floats and complex numbers that compiled code calls.

They raise where Python's do. Those of `math_of` are the C library's; the rest is arithmetic, as in CPython. What kernels
call, themselves or by a function, are those of `kernel_floats`, which every device has.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from . import jit, kernel_floats
from .engine_functions import engine_function

_TO_DEGREES = 180.0 / math.pi
_TO_RADIANS = math.pi / 180.0


math_of_erf = engine_function("math_of_erf")
math_of_erfc = engine_function("math_of_erfc")
math_of_gamma = engine_function("math_of_gamma")
math_of_lgamma = engine_function("math_of_lgamma")
math_of_remainder = engine_function("math_of_remainder")
in_kernel = engine_function("in_kernel")  # known when a function is compiled


@jit
def _erf(x):
    return math_of_erf(float(x))


@jit
def erf(x):
    if in_kernel():
        return kernel_floats.erf(x)
    else:
        return _erf(x)


@jit
def _erfc(x):
    return math_of_erfc(float(x))


@jit
def erfc(x):
    if in_kernel():
        return kernel_floats.erfc(x)
    else:
        return _erfc(x)


@jit
def _is_pole(x):
    """Of the gamma function: 0, -1, -2..."""
    return x <= 0.0 and x == np.floor(x)


@jit
def _gamma(x):
    v = float(x)
    if _is_pole(v):
        raise ValueError("math domain error")
    if v <= 23.0 and v == np.floor(v):  # exactly, as CPython
        product = 1.0
        for k in range(2, int(v)):
            product *= k
        return product
    made = math_of_gamma(v)
    if math.isinf(made) and not math.isinf(v):
        raise OverflowError("math range error")
    return made


@jit
def gamma(x):
    if in_kernel():
        return kernel_floats.gamma(x)
    else:
        return _gamma(x)


@jit
def _lgamma(x):
    v = float(x)
    if math.isinf(v):
        return math.inf
    if _is_pole(v):
        raise ValueError("math domain error")
    made = math_of_lgamma(v)
    if math.isinf(made):
        raise OverflowError("math range error")
    return made


@jit
def lgamma(x):
    if in_kernel():
        return kernel_floats.lgamma(x)
    else:
        return _lgamma(x)


@jit
def degrees(x):
    return float(x) * _TO_DEGREES


@jit
def radians(x):
    return float(x) * _TO_RADIANS


_EXPONENT = 0x7FF << 52  # its bits, of which 1023 says 0


@jit
def frexp(x):
    v = float(x)
    if v == 0.0 or not math.isfinite(v):
        return v, 0
    most = -1022
    if abs(v) < 2.0**-1022:  # its leading bits are zeros
        v *= 2.0**54
        most -= 54
    bits = np.float64(v).view(np.int64)
    fraction = np.int64(bits & ~_EXPONENT | 1022 << 52).view(np.float64)
    return float(fraction), int((bits & _EXPONENT) >> 52) + most


@jit
def scaled(v, n):
    """v * 2**n, rounded once: what is left behind large steps has the bits of normal numbers."""
    for _ in range(2):
        if n > 1023:
            v *= 2.0**1023
            n -= 1023
        elif n < -1022:
            v *= 2.0**-969
            n += 969
    n = max(-1022, min(n, 1023))
    return v * float(np.int64((n + 1023) << 52).view(np.float64))


@jit
def ldexp(x, i):
    v = float(x)
    # Beyond these bounds the result is 0 or infinite whatever the number is.
    made = scaled(v, max(-5000, min(int(i | 0), 5000)))
    if math.isinf(made) and not math.isinf(v):
        raise OverflowError("math range error")
    return made


@jit
def modf(x):
    v = float(x)
    if math.isinf(v):
        return math.copysign(0.0, v), v
    whole = float(np.trunc(v))
    return math.copysign(v - whole, v), whole


@jit
def _remainder(x, y):
    a = float(x)
    b = float(y)
    made = math_of_remainder(a, b)
    if math.isnan(made) and not math.isnan(a) and not math.isnan(b):
        raise ValueError("math domain error")
    return made


@jit
def remainder(x, y):
    if in_kernel():
        return kernel_floats.remainder(x, y)
    else:
        return _remainder(x, y)


@jit
def ulp(x):
    v = abs(float(x))
    if math.isnan(v) or math.isinf(v):
        return v
    up = math.nextafter(v, math.inf)
    return v - math.nextafter(v, -math.inf) if math.isinf(up) else up - v


@jit
def _is_close(a, b, rel_tol, abs_tol):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    apart = abs(a - b)
    limit = max(rel_tol * abs(a), rel_tol * abs(b), abs_tol)
    return a == b or (apart <= limit and not math.isinf(abs(a)) and not math.isinf(abs(b)))


@jit
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return _is_close(a, b, float(rel_tol), float(abs_tol))


# The inverse functions of complex numbers by Kahan, "Branch cuts for complex elementary functions" (1987); for
# large numbers by logarithms, as CPython has them.
_LARGE = 4.49423283715579e307
_LN2 = math.log(2.0)


@jit
def _log_of_size(z):
    """log(|z|) where |z| may overflow."""
    return math.log(math.hypot(z.real / 2.0, z.imag / 2.0)) + _LN2 * 2.0


@jit
def _is_large(z):
    return abs(z.real) > _LARGE or abs(z.imag) > _LARGE


@jit
def acos(x):
    z = complex(x)
    if _is_large(z):
        log = math.copysign(_log_of_size(z), -z.imag)
        return complex(math.atan2(abs(z.imag), z.real), log)
    if z.real == 0.0 and math.isnan(z.imag):
        return complex(math.pi / 2.0, math.nan)
    s1 = cmath.sqrt(complex(1.0 - z.real, -z.imag))
    s2 = cmath.sqrt(complex(1.0 + z.real, z.imag))
    return complex(
        2.0 * math.atan2(s1.real, s2.real), math.asinh(s2.real * s1.imag - s2.imag * s1.real)
    )


@jit
def acosh(x):
    z = complex(x)
    if _is_large(z):
        return complex(_log_of_size(z), math.atan2(z.imag, z.real))
    s1 = cmath.sqrt(complex(z.real - 1.0, z.imag))
    s2 = cmath.sqrt(complex(z.real + 1.0, z.imag))
    return complex(
        math.asinh(s1.real * s2.real + s1.imag * s2.imag), 2.0 * math.atan2(s1.imag, s2.real)
    )


@jit
def asinh(x):
    z = complex(x)
    if _is_large(z):
        log = math.copysign(_log_of_size(z), z.real)
        return complex(log, math.atan2(z.imag, abs(z.real)))
    if math.isnan(z.real) and z.imag == 0.0:
        return z
    s1 = cmath.sqrt(complex(1.0 + z.imag, -z.real))
    s2 = cmath.sqrt(complex(1.0 - z.imag, z.real))
    return complex(
        math.asinh(s1.real * s2.imag - s2.real * s1.imag),
        math.atan2(z.imag, s1.real * s2.real - s1.imag * s2.imag),
    )


@jit
def atanh(x):
    z = complex(x)
    if z.real < 0.0 or (z.real == 0.0 and math.copysign(1.0, z.real) < 0.0):
        other = atanh_of_right(complex(-z.real, -z.imag))
        return complex(-other.real, -other.imag)
    return atanh_of_right(z)


@jit
def atanh_of_right(z):
    """Where the real part is not negative."""
    size = abs(z.imag)
    if math.isinf(size) or math.isinf(z.real):
        angle = math.nan if math.isnan(size) else math.copysign(math.pi / 2.0, z.imag)
        return complex(0.0, angle)
    if math.isnan(size):
        return complex(0.0 if z.real == 0.0 else math.nan, math.nan)
    if z.real > 6e153 or size > 6e153:
        scale = math.hypot(z.real / 2.0, z.imag / 2.0)
        return complex(z.real / 4.0 / scale / scale, math.copysign(math.pi / 2.0, z.imag))
    if z.real == 1.0 and size < 1e-154:
        if size == 0.0:
            raise ValueError("math domain error")
        tilt = math.copysign(math.atan2(2.0, -size) / 2.0, z.imag)
        return complex(-math.log(math.sqrt(size) / math.sqrt(math.hypot(size, 2.0))), tilt)
    left = (1.0 - z.real) * (1.0 - z.real) + size * size
    angle = -math.atan2(-2.0 * z.imag, (1.0 - z.real) * (1.0 + z.real) - size * size) / 2.0
    return complex(math.log1p(4.0 * z.real / left) / 4.0, angle)


@jit
def asin(x):
    z = complex(x)
    turned = asinh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


@jit
def atan(x):
    z = complex(x)
    turned = atanh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


@jit
def isclose_of_complex(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return _is_close(complex(a), complex(b), float(rel_tol), float(abs_tol))


of_math = {
    f.__name__: f
    for f in (
        erf,
        erfc,
        gamma,
        lgamma,
        degrees,
        radians,
        frexp,
        ldexp,
        modf,
        remainder,
        ulp,
        isclose,
    )
}
of_cmath = {f.__name__: f for f in (acos, acosh, asin, asinh, atan, atanh)}
of_cmath["isclose"] = isclose_of_complex
