"""Elementwise functions that are composed of others: two results, or no loop of their own.

Where the engine has a function of the same name, that one is found first.
"""

import unisono as un

from . import _engine
from ._ufunc import as_array


def _divmod(x1, x2):
    return un.floor_divide(x1, x2), un.remainder(x1, x2)


def _modf(x):
    x = _float(as_array(x))
    whole = un.trunc(x)
    part = un.where(abs(x) == un.inf, 0.0, x - whole)
    return un.copysign(part, x), whole


def _frexp(x):
    x = _float(as_array(x))
    # The exponent of the logarithm may be off by one near a power of two; two steps make it exact.
    size = abs(x)
    plain = (size > 0) & (size < un.inf)
    size = un.where(plain, size, 1.0)
    tiny = size < 2.0**-1000 if x.dtype == "float64" else size < 2.0**-100
    shift = 200 if x.dtype == "float64" else 60
    size = un.where(tiny, size * 2.0**shift, size)
    exponent = un.floor(un.log2(size)).astype("int32") + 1
    mantissa = _scaled(size, -exponent)
    high, low = mantissa >= 1, mantissa < 0.5
    mantissa = un.where(high, mantissa * 0.5, un.where(low, mantissa * 2, mantissa))
    exponent = (
        exponent
        + high.astype("int32")
        - low.astype("int32")
        - un.where(tiny, shift, 0).astype("int32")
    )
    made = un.where(plain, un.copysign(mantissa, x), x)
    return made, un.where(plain, exponent, 0).astype("int32")


def _float(x):
    return x if x.dtype.kind == "f" else x.astype(un.sqrt(un.ones((), x.dtype)).dtype)


def _scaled(x, exponent):
    """x * 2**exponent in two exact steps, so that no factor overflows."""
    first = exponent // 2
    return x * _power_of_two(first, x.dtype) * _power_of_two(exponent - first, x.dtype)


def _power_of_two(exponent, dtype):
    return un.exp2(exponent.astype(dtype))


def _ldexp(x1, x2):
    x, n = _float(as_array(x1)), as_array(x2)
    if n.dtype.kind not in "iub":
        raise TypeError(f"ldexp: the second operand must be integers; got dtype {n.dtype}")
    limit = 1100 if x.dtype == "float64" else 160
    n = un.maximum(un.minimum(n.astype("int32"), 2 * limit), -2 * limit)
    # Three exact factors cover the range from the largest number to the smallest.
    third = n // 3
    middle = (n - third) // 2
    for part in (third, middle, n - third - middle):
        x = x * _power_of_two(part, x.dtype)
    return x


def _float_power(x1, x2):
    x1, x2 = as_array(x1), as_array(x2)
    kind = "complex128" if "c" in (x1.dtype.kind, x2.dtype.kind) else "float64"
    return un.power(x1.astype(kind), x2.astype(kind))


def _truth(x):
    x = as_array(x)
    return x if x.dtype == "bool" else x != 0


def _isnat(x):
    raise TypeError(f"isnat: only defined for dates and times; got dtype {as_array(x).dtype}")


def _positive(x):
    return +as_array(x)


divmod = _engine._make_ufunc("divmod", 2, 2, _divmod)
float_power = _engine._make_ufunc("float_power", 2, 1, _float_power)
frexp = _engine._make_ufunc("frexp", 1, 2, _frexp)
isnat = _engine._make_ufunc("isnat", 1, 1, _isnat)
ldexp = _engine._make_ufunc("ldexp", 2, 1, _ldexp)
logical_and = _engine._make_ufunc("logical_and", 2, 1, lambda a, b: _truth(a) & _truth(b))
logical_or = _engine._make_ufunc("logical_or", 2, 1, lambda a, b: _truth(a) | _truth(b))
logical_xor = _engine._make_ufunc("logical_xor", 2, 1, lambda a, b: _truth(a) ^ _truth(b))
modf = _engine._make_ufunc("modf", 1, 2, _modf)
positive = _engine._make_ufunc("positive", 1, 1, _positive)
power = _engine._make_ufunc("power", 2, 1, lambda a, b: as_array(a) ** b)
