"""Elementwise functions that are composed of others: two results, or no loop of their own.

Where the engine has a function of the same name, that one is found first.
"""

import operator

import unisono as un

from .. import _engine
from .._arrays.axes import arrays_together, as_array, as_array_beside
from .._arrays.exchange.interoperation import numpys_own
from .._arrays.ufunc import is_python_number


def _divmod(x1, x2):
    return un.floor_divide(x1, x2), un.remainder(x1, x2)


def _modf(x):
    x = _float(as_array(x))
    finite = un.where(abs(x) == un.inf, 0.0, x)
    return un.copysign(finite - un.trunc(finite), x), un.trunc(x)


def _frexp(x):
    x = _float(as_array(x))
    exponent = _engine._exponent(x)
    return _engine._ldexp(x, -exponent), exponent.astype("int32")


def _float(x):
    return x if x.dtype.kind == "f" else x.astype(un.sqrt(un.ones((), x.dtype)).dtype)


def _ldexp(x1, x2):
    x, n = as_array_beside(x1, x2), as_array_beside(x2, x1)
    if n.dtype.kind not in "iub" or n.dtype == "uint64":
        raise TypeError(
            f"ldexp: the second operand must be integers that int64 holds; got dtype {n.dtype}"
        )
    # A Python integer takes the first loop that holds the other operand: that of float16.
    weak = is_python_number(x1, (int,)) and not is_python_number(x2)
    x = x.astype("float16") if weak else _float(x)
    return _engine._ldexp(x, n.astype(x.dtype))


def _float_power(x1, x2):
    x1, x2 = arrays_together(x1, x2)
    kind = "complex128" if "c" in (x1.dtype.kind, x2.dtype.kind) else "float64"
    return un.power(x1.astype(kind), x2.astype(kind))


def _truths(*operands):
    return (
        x if x.dtype == "bool" else x != 0 for x in map(_computed_here, arrays_together(*operands))
    )


def _computed_here(x):
    """The array, whose elements are numbers; NumPy computes with objects."""
    if x.dtype.kind == "O":  # comparing with a class would look the class up
        raise TypeError("expected numbers; got an array of objects")
    return x


def _isnat(x):
    times = numpys_own(x)
    if times is not None and times.dtype.kind in "mM":
        import numpy

        return as_array(numpy.isnat(times))
    raise TypeError(f"isnat: only defined for dates and times; got dtype {as_array(x).dtype}")


def _positive(x):
    return +as_array(x)


def _numbers(x):
    """The array, bools as the smallest integers: what has no loop for bools takes them so."""
    x = _computed_here(as_array(x))
    return x.astype("int8") if x.dtype.kind == "b" else x


def _square(x):
    x = _numbers(x)
    return un.multiply(x, x)


def _reciprocal(x):
    x = _numbers(x)
    if x.dtype.kind == "f":
        return 1 / x
    if x.dtype.kind == "c":
        return _complex_reciprocal(x)
    if un.geterr()["divide"] != "ignore":
        un.floor_divide(1, x)  # which reports zeros
    made = un.multiply(x, abs(x) == 1)
    if x.dtype.name in ("int32", "int64"):  # 1 / 0 as the processor converts it
        made = un.where(x == 0, un.iinfo(x.dtype).min, made)
    return made


def _complex_reciprocal(x):
    """NumPy's form of 1 / x, whose zeros have the signs of the conjugate; that of a quotient has its numerator's 0."""
    real, imag = x.real, x.imag
    flat = un.abs(imag) <= un.abs(real)
    large, small = un.where(flat, real, imag), un.where(flat, imag, real)
    ratio = small / large
    below = large + small * ratio
    made = un.empty(x.shape, x.dtype, device=x.device)
    made.real = un.where(flat, 1.0, ratio) / below
    made.imag = un.where(flat, -ratio, -1.0) / below
    return made if x.ndim else made[()]


def _real(name, *operands):
    """Refuse complex operands of a function of real numbers."""
    for x in operands:
        if isinstance(x, complex) or as_array(x).dtype.kind == "c":
            raise TypeError(f"{name}: not defined for complex numbers; got {_described(x)}")


def _described(x):
    return f"dtype {x.dtype}" if hasattr(x, "dtype") else f"{x!r}"


def _fabs(x):
    _real("fabs", x)
    return abs(_float(as_array(x)))


def _scaled(x, factor):
    """x times the factor; a half is rounded once, not the factor too."""
    x = _float(as_array(x))
    return (x.astype("float32") * factor).astype("float16") if x.dtype == "float16" else x * factor


def _deg2rad(x):
    _real("deg2rad", x)
    return _scaled(x, un.pi / 180.0)


def _rad2deg(x):
    _real("rad2deg", x)
    return _scaled(x, 180.0 / un.pi)


def _spacing(x):
    x = _float(as_array(x))
    finite = un.isfinite(x)
    x = un.where(finite, x, 1.0)
    # NumPy's halves go up, other dtypes away from 0.
    towards = un.inf if x.dtype == "float16" else un.where(x == 0, un.inf, un.copysign(un.inf, x))
    return un.where(finite, un.nextafter(x, towards) - x, un.nan)


def _pair(a, b):
    """Two operands, at least one of them an array of floats; Python numbers adapt to the other."""
    numbers = (bool, int, float)
    if is_python_number(a, numbers) and not is_python_number(b, numbers):
        return _pair(b, a)[::-1]
    a = as_array_beside(a, b)
    if is_python_number(b, numbers):  # integers with a float are float64
        return _float(a.astype(un.result_type(a, b), copy=False)), b
    return _float(a), _float(as_array_beside(b, a))


def _distance(a, b, dtype):
    """abs(a - b) where they differ."""
    if un.geterr()["invalid"] != "ignore":
        # Infinities of one sign are equal: nothing is to be reported of their difference.
        equal = a == b
        place = getattr(equal, "device", None)
        zero = un.zeros((), dtype, device=place)
        a, b = (un.where(equal, zero, un.asarray(x, dtype=dtype, device=place)) for x in (a, b))
    return abs(a - b)


def _logaddexp(a, b):
    _real("logaddexp", a, b)
    a, b = _pair(a, b)
    larger = un.maximum(a, b)
    small = un.log1p(un.exp(-_distance(a, b, larger.dtype)))
    return un.where(a == b, larger + 0.6931471805599453, larger + small)


def _logaddexp2(a, b):
    _real("logaddexp2", a, b)
    a, b = _pair(a, b)
    larger = un.maximum(a, b)
    small = un.log1p(un.exp2(-_distance(a, b, larger.dtype))) * 1.4426950408889634
    return un.where(a == b, larger + 1.0, larger + small)


def _heaviside(a, b):
    _real("heaviside", a, b)
    a, b = _pair(a, b)
    kind = un.add(a, b).dtype
    step = un.where(a == 0, b, un.where(a > 0, 1.0, un.where(a < 0, 0.0, a)))
    return step.astype(kind)


def _conjugate(x):
    x = _numbers(x)
    if x.dtype.kind != "c":
        return x.copy()
    made = un.empty(x.shape, x.dtype, device=x.device)
    made.real = x.real
    un.negative(x.imag, out=made.imag)
    return made if x.ndim else made[()]


divmod = _engine._make_ufunc("divmod", 2, 2, _divmod)
float_power = _engine._make_ufunc("float_power", 2, 1, _float_power)
frexp = _engine._make_ufunc("frexp", 1, 2, _frexp)
isnat = _engine._make_ufunc("isnat", 1, 1, _isnat)
ldexp = _engine._make_ufunc("ldexp", 2, 1, _ldexp)
logical_and = _engine._make_ufunc("logical_and", 2, 1, lambda a, b: operator.and_(*_truths(a, b)))
logical_or = _engine._make_ufunc("logical_or", 2, 1, lambda a, b: operator.or_(*_truths(a, b)))
logical_xor = _engine._make_ufunc("logical_xor", 2, 1, lambda a, b: operator.xor(*_truths(a, b)))
modf = _engine._make_ufunc("modf", 1, 2, _modf)
positive = _engine._make_ufunc("positive", 1, 1, _positive)
deg2rad = _engine._make_ufunc("deg2rad", 1, 1, _deg2rad)
fabs = _engine._make_ufunc("fabs", 1, 1, _fabs)
heaviside = _engine._make_ufunc("heaviside", 2, 1, _heaviside)
logaddexp = _engine._make_ufunc("logaddexp", 2, 1, _logaddexp)
logaddexp2 = _engine._make_ufunc("logaddexp2", 2, 1, _logaddexp2)
rad2deg = _engine._make_ufunc("rad2deg", 1, 1, _rad2deg)
degrees = _engine._make_ufunc("degrees", 1, 1, _rad2deg)
radians = _engine._make_ufunc("radians", 1, 1, _deg2rad)
reciprocal = _engine._make_ufunc("reciprocal", 1, 1, _reciprocal)
spacing = _engine._make_ufunc("spacing", 1, 1, _spacing)
square = _engine._make_ufunc("square", 1, 1, _square)
conjugate = _engine._make_ufunc("conjugate", 1, 1, _conjugate)
