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
def getitem(a, b):
    return a[b]


@jit
def contains(a, b):
    return b in a


implementations = {f.__name__: f for f in (neg, pos, inv, not_, getitem, contains)}
implementations |= {
    name: compile_text(f"def {name}(a, b):\n    return a {sign} b\n", name, {})
    for name, sign in _BINARY.items()
}
