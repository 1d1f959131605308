"""``pycuda.cumath``: mathematics of elements, by the functions of `unisono`."""

from __future__ import annotations

import unisono as un

from ._allocations import on_stream
from .gpuarray import _lifted, _stored

_names = {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "exp": "exp",
    "fabs": "abs", "floor": "floor", "log": "log", "log10": "log10", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "tan": "tan", "tanh": "tanh",
}  # fmt: skip
__all__ = [*_names, "fmod", "frexp", "ldexp", "modf"]


def _function(name, ours):
    def made(array, stream_or_out=None, *, out=None, stream=None):
        if stream_or_out is not None:
            if hasattr(stream_or_out, "dtype"):
                out = stream_or_out
            else:
                stream = stream_or_out
        with on_stream(stream):
            return _stored(_lifted(getattr(un, ours)(array)), out)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"`unisono.{ours}` of each element, as a GPUArray."
    return made


for _name, _ours in _names.items():
    globals()[_name] = _function(_name, _ours)


def fmod(arg, mod, stream=None):
    """The rest of a division, with the sign of `arg`."""
    with on_stream(stream):
        return _lifted(un.fmod(arg, mod))


def frexp(arg, stream=None):
    """(significands, exponents) as arrays of `arg`'s dtype."""
    with on_stream(stream):
        significand, exponent = un.frexp(arg)
        return _lifted(significand), _lifted(exponent.astype(str(arg.dtype)))


def ldexp(significand, exponent, stream=None):
    """``significand * 2 ** exponent``."""
    with on_stream(stream):
        made = un.ldexp(significand, un.asarray(exponent).astype("int32"))
        return _lifted(made.astype(str(significand.dtype)))


def modf(arg, stream=None):
    """(fractions, whole parts)."""
    with on_stream(stream):
        fraction, whole = un.modf(arg)
        return _lifted(fraction), _lifted(whole)
