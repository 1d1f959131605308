"""Functions of ``operator`` that compiled code calls."""

from __future__ import annotations

from . import jit
from .text import compile_text

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "ge": ">=",
    "concat": "+",
}


@jit
def neg(a):
    return -a


@jit
def pos(a):
    return +a


@jit
def inv(a):
    return ~a


@jit
def not_(a):
    return not a


@jit
def truth(a):
    return bool(a)


@jit
def size_of(a):
    return abs(a)


@jit
def getitem(a, b):
    return a[b]


@jit
def contains(a, b):
    return b in a


implementations = {f.__name__: f for f in (neg, pos, inv, not_, getitem, contains)}
implementations |= {"abs": size_of, "invert": inv, "truth": truth}
_IN_PLACE = "add and_ floordiv lshift matmul mod mul or_ pow rshift sub truediv xor"
implementations |= {
    f"i{name.strip('_')}": compile_text(
        f"def i{name}(a, b):\n    a {_BINARY[name]}= b\n    return a\n", f"i{name}", {}
    )
    for name in _IN_PLACE.split()
}
implementations |= {
    name: compile_text(f"def {name}(a, b):\n    return a {sign} b\n", name, {})
    for name, sign in _BINARY.items()
}
