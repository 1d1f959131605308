"""Short vectors of numbers with OpenCL's and CUDA's names, in kernels and from Python: `float4`, `int2`, `uchar16`...

``float4(x, y, z, w)`` makes one of its components, some of which may be those of vectors, ``float4(v2, z, w)``; ``float4(c)``
of one number for all, ``float4(a[i])`` of an element of an array of `float4.dtype`; ``a[i] = v`` stores one. Components are ``x y z w``, or ``s0 s1 ...``; ``lo hi even odd xy zw xyz``
are vectors of some of them. Operators take vectors of one type, or a number for all components, and give the same type. A
vector does not change: ``v = float4(5, v.y, v.z, v.w)``.

Examples
--------
>>> import numpy as np, unisono as un
>>> from unisono.vectors import float4
>>> @un.kernel
... def scale(a, out):
...     i = un.global_id(0)
...     out[i] = float4(a[i]) * 2 + float4(0, 0, 0, 1)
>>> a = np.array([(1, 2, 3, 4)], float4.dtype)
>>> out = np.zeros(1, float4.dtype)
>>> scale[1](a, out)
>>> out[0].tolist()
(2.0, 4.0, 6.0, 9.0)
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from ._jit import unfiled
from ._jit.text import compile_text

_SCALARS = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "half": "float16", "float": "float32", "double": "float64",
}  # fmt: skip
_ALIASES = {"longlong": "long", "ulonglong": "ulong"}  # CUDA's, the same types
_COUNTS = (1, 2, 3, 4, 8, 16)
_names = [f"{scalar}{count}" for scalar in (*_SCALARS, *_ALIASES) for count in _COUNTS]
_made = {}

__all__ = list(_names)


class VectorType:
    """A type of vectors, called with components."""

    def __init__(self, name, scalar, count):
        self.__name__, self.count = name, count
        self.scalar = np.dtype(scalar)
        self.fields = (
            tuple("xyzw"[:count]) if count <= 4 else tuple(f"s{k:x}" for k in range(count))
        )
        self.dtype = np.dtype([(f, self.scalar) for f in self.fields])
        scope = {
            name: None,
            "dataclass": dataclasses.dataclass,
            "scalar": self.scalar.type,
            "np": np,
        }
        base = name.rstrip("0123456789")
        for part in {len(chosen) for chosen in _parts(self.fields).values()} - {1}:
            scope[f"{base}{part}"] = _type(f"{base}{part}").value
        text = _text_of_class(self)
        file = f"<unisono vectors.{name}>"
        unfiled.keep(file, text)
        scope["__name__"] = __name__
        exec(compile(text, file, "exec"), scope)
        self.value = scope[name]
        self._make = None

    @property
    def _in_compiled_code(self):
        if self._make is None:
            scope = {self.__name__: self.value, "scalar": self.scalar.type, "np": np}
            scope |= {kind.__name__: kind.value for kind in self._shorter()}
            for word, write in (
                ("of_one", _text_of_one),
                ("number", _text_of_number),
                ("components", _text_of_components),
            ):
                scope[word] = compile_text(write(self), word, scope)
            self._make = compile_text(_text_of_make(self), "make", scope)
        return self._make

    def _shorter(self):
        """The types of vectors of the same numbers that may be parts of one, shortest first."""
        base = self.__name__.rstrip("0123456789")
        return [_type(f"{base}{count}") for count in _COUNTS if count < self.count]

    def __call__(self, *values):
        if len(values) == 1 and isinstance(values[0], np.void):
            values = [values[0][f] for f in self.fields]
        elif len(values) == 1 and not dataclasses.is_dataclass(values[0]):
            values *= self.count
        kinds = {kind.value: kind for kind in (*self._shorter(), self)}
        numbers = []
        for v in values:
            kind = kinds.get(type(v))
            if kind is None and dataclasses.is_dataclass(v):
                raise TypeError(
                    f"{self.__name__}: takes numbers and vectors of {self.scalar}; got a {type(v).__name__}; convert its "
                    f"components"
                )
            numbers += [v] if kind is None else [getattr(v, f) for f in kind.fields]
        if len(numbers) != self.count:
            raise TypeError(
                f"{self.__name__}: takes {self.count} numbers, or one for all; got {len(numbers)}"
            )
        return self.value(*(self.scalar.type(v) for v in numbers))

    def __instancecheck__(self, value):
        return isinstance(value, self.value)

    def __repr__(self):
        return f"<unisono.vectors.{self.__name__}>"


def _text_of_class(kind):
    name, fields = kind.__name__, kind.fields
    lines = ["@dataclass(frozen=True)", f"class {name}:"]
    lines += [f"    {f}: scalar" for f in fields]
    is_float = kind.scalar.kind == "f"
    operators = {"add": "+", "sub": "-", "mul": "*"}
    operators |= {"truediv": "/"} if is_float else {
        "floordiv": "//", "mod": "%", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    }  # fmt: skip
    for word, sign in operators.items():
        both = ", ".join(f"scalar(self.{f} {sign} o.{f})" for f in fields)
        one = ", ".join(f"scalar(self.{f} {sign} c)" for f in fields)
        turned = ", ".join(f"scalar(c {sign} self.{f})" for f in fields)
        lines += [
            f"    def __{word}__(self, o):",
            f"        if isinstance(o, {name}):",
            f"            return {name}({both})",
        ]
        lines += ["        c = scalar(o)", f"        return {name}({one})"]
        lines += [
            f"    def __r{word}__(self, o):",
            "        c = scalar(o)",
            f"        return {name}({turned})",
        ]
    lines += [
        "    def __neg__(self):",
        f"        return {name}({', '.join(f'scalar(-self.{f})' for f in fields)})",
    ]
    for part, chosen in _parts(fields).items():
        made = ", ".join(f"self.{f}" for f in chosen)
        base = name.rstrip("0123456789")
        made = f"{base}{len(chosen)}({made})" if len(chosen) > 1 else made
        lines += ["    @property", f"    def {part}(self):", f"        return {made}"]
    return "\n".join(lines) + "\n"


def _parts(fields):
    """Other names of components, and those of several."""
    count = len(fields)
    parts = {f"s{k:x}": (f,) for k, f in enumerate(fields) if f != f"s{k:x}"}
    if count > 2:
        if count <= 4:
            parts["xy"] = fields[:2]
        if count != 3:
            half = count // 2
            parts |= {
                "lo": fields[:half],
                "hi": fields[half:],
                "even": fields[::2],
                "odd": fields[1::2],
            }
    if count == 4:
        parts |= {"zw": fields[2:], "xyz": fields[:3]}
    return parts


def _text_of_one(kind):
    name = kind.__name__
    same = ", ".join(["c"] * kind.count)
    fields = ", ".join(f"scalar(v.{f})" for f in kind.fields)
    return f"""def of_one(v):
    if isinstance(v, (int, float, np.integer, np.floating, np.bool_)):
        c = scalar(v)
        return {name}({same})
    return {name}({fields})
"""


def _text_of_number(kind):
    return """def number(v):
    if isinstance(v, (int, float, np.integer, np.floating, np.bool_)):
        return scalar(v)
    return scalar(v.x)
"""


def _text_of_components(kind):
    lines = [
        "def components(v):",
    ]
    for part in kind._shorter():
        lines += [f"    if isinstance(v, {part.__name__}):"]
        lines += [f"        return ({''.join(f'v.{f}, ' for f in part.fields)})"]
    lines += ["    return (scalar(v),)  # neither: the conversion says so"]
    return "\n".join(lines) + "\n"


def _text_of_make(kind):
    """Numbers and vectors in any order: the number of arguments and their types are constants in compiled code."""
    name, count = kind.__name__, kind.count
    numbers = ", ".join(f"number(v[{k}])" for k in range(count))
    lines = ["def make(*v):", "    if len(v) == 1:", "        return of_one(v[0])"]
    lines += [f"    if len(v) == {count}:", f"        return {name}({numbers})"]
    for given in range(2, count):
        parts = " + ".join(f"components(v[{k}])" for k in range(given))
        lines += [f"    if len(v) == {given}:", f"        return {name}(*({parts}))"]
    lines += [f"    return {name}(*v)  # too many: the class says so"]
    return "\n".join(lines) + "\n"


def _type(name):
    scalar, count = re.fullmatch(r"([a-z]+)(\d+)", name).groups()
    scalar = _ALIASES.get(scalar, scalar)
    name = f"{scalar}{count}"
    made = _made.get(name)
    if made is None:
        made = _made[name] = VectorType(name, _SCALARS[scalar], int(count))
    return made


def __getattr__(name):
    if name in _names:
        return _type(name)
    raise AttributeError(
        f"module 'unisono.vectors' has no attribute '{name}'; there are {', '.join(_SCALARS)} of 1, 2, 3, 4, 8 and 16"
    )


def __dir__():
    return [*_names, "VectorType"]
