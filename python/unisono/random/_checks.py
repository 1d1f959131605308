"""Shapes, names and checks that the methods of the generator share."""

import contextlib
import operator

from .. import _engine

_INTEGERS = {
    "bool": (0, 1),
    **{f"int{n}": (-(1 << n - 1), (1 << n - 1) - 1) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (0, (1 << n) - 1) for n in (8, 16, 32, 64)},
}


def _refuse_more(what, size, more):
    """`normal(0, 1, 3, 4)`: extents one by one, where the shape is one argument."""
    raise TypeError(
        f"{what}: the shape is one argument; got {1 + len(more)} extents one by one; "
        f"write size={(size, *more)!r}"
    )


def _shape(size):
    if size is None:
        return None
    if type(size) is int and size >= 0:
        return (size,)
    whole = hasattr(size, "__index__") and getattr(size, "ndim", 0) == 0
    shape = (operator.index(size),) if whole else tuple(operator.index(n) for n in size)
    if any(n < 0 for n in shape):
        raise ValueError(f"random: negative dimensions are not allowed; got size {size}")
    return shape


def _length_of_bytes(length):
    """How many bytes a draw of `bytes` has; a number of another kind is cut to an integer, as NumPy does."""
    if not _is_number(length):
        raise TypeError(f"bytes: length; got {length!r}; expected an integer")
    if length < 0:
        raise ValueError(f"bytes: length; got {length!r}; expected 0 or more")
    return int(length)


def _is_number(x):
    return isinstance(x, (int, float)) or (
        getattr(x, "ndim", None) == 0 and hasattr(x, "__float__")
    )


def _refuse_dtype(what, dtype, expected):
    """Also of `random(2, 3)`: an extent stands where the dtype does."""
    if isinstance(dtype, int):
        raise TypeError(
            f"{what}: {dtype} is not a dtype; if it belongs to the shape, give that as one argument, as in size=(2, 3)"
        )
    raise TypeError(f"{what}: Unsupported dtype {_name(dtype)!r}; expected {expected}")


def _check_float(what, dtype):
    if _name(dtype) not in ("float64", "float32", "float", "f", "d", "f4", "f8"):
        _refuse_dtype(what, dtype, "float64 or float32")


def _one_less(high):
    """Limits that no dtype holds, less 1."""
    return [_one_less(v) for v in high] if isinstance(high, (list, tuple)) else high - 1


def _name(dtype):
    if isinstance(dtype, str) and dtype not in _INTEGERS:
        with contextlib.suppress(TypeError):
            return _engine._empty(0, dtype, None).dtype.name  # of NumPy's letters too
    return getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)


class _Check:
    """What the parameters of a distribution must be; each is a number or an array."""

    def __init__(self, text, *tests):
        self.text, self.tests = text, tests

    def __call__(self, what, parameters):
        for parameter, test in zip(parameters, self.tests, strict=False):
            if test is None:
                continue
            good = test(parameter)
            if not (good if isinstance(good, bool) else bool(good.all())):
                shown = parameter if _is_number(parameter) else "an array that breaks this"
                raise ValueError(f"{what}: expected {self.text}; got {shown}")


def _positive(x):
    return x > 0


def _not_negative(x):
    return x >= 0


def _chance(x):
    return (x >= 0) & (x <= 1) if not _is_number(x) else bool(0 <= x <= 1)


def _chance_above_0(x):
    return (x > 0) & (x <= 1) if not _is_number(x) else bool(0 < x <= 1)


def _broadcast(one, two):
    return (
        _engine.broadcast_to(_engine._empty(one, "bool", None), two).shape
        if one == ()
        else tuple(_pair(p, q) for p, q in zip(_padded(one, two), _padded(two, one), strict=True))
    )


def _padded(shape, other):
    return (1,) * max(0, len(other) - len(shape)) + tuple(shape)


def _pair(p, q):
    if p != q and 1 not in (p, q):
        raise ValueError(f"random: parameters do not broadcast; got extents {p} and {q}")
    return q if p == 1 else p


def _take(x, order, axis):
    return x[(slice(None),) * (axis % x.ndim) + (order,)]
