"""Bit-fields of C structs: NumPy has no field of a few bits, so the bytes that hold them are a field.

Its name says what lies where: ``"a:u3@0 b:i5@3"`` are three bits of an unsigned number, and five of a signed one behind
them. So NumPy copies them with the rest, and elements of such arrays, `StructWithBits`, know their parts by name.
"""

from __future__ import annotations

import functools
import operator
import re

_part = re.compile(r"(\w+):([uib])(\d+)@(\d+)")


def units(fields):
    """(name, offset, bytes) of the memory of the bit-fields of a struct; see `struct_row` of bindings/c/text.cpp."""
    runs = []  # first and last byte, and parts as (name, kind, bits, first bit in the struct)
    for name, dtype, _, _, offset, _, _, bits, first in sorted(fields, key=lambda f: f[4]):
        if not bits:
            continue
        part = name, dtype[0], bits, offset * 8 + first
        last = (part[3] + bits - 1) // 8
        if runs and offset <= runs[-1][1] + 1:
            runs[-1][1] = max(runs[-1][1], last)
            runs[-1][2].append(part)
        else:
            runs.append([offset, last, [part]])
    return [
        (" ".join(f"{n}:{kind}{bits}@{at - 8 * start}" for n, kind, bits, at in parts), start, last - start + 1)
        for start, last, parts in runs
    ]  # fmt: skip


def unit_dtype(size):
    """NumPy's spelling of the memory of bit-fields."""
    return f"u{size}" if size in (1, 2, 4, 8) else (f"({size},)" if size > 1 else "") + "u1"


@functools.cache
def _parts(dtype):
    """By name: (kind, bits, first bit in the struct)."""
    return {
        name: (kind, int(bits), 8 * dtype.fields[unit][1] + int(at))
        for unit in dtype.names
        for name, kind, bits, at in _part.findall(unit)
    }


def members(dtype):
    """The names of the fields as C has them."""
    if dtype.names is None:
        return ()
    parts = _parts(dtype)
    places = {n: 8 * dtype.fields[n][1] for n in dtype.names if ":" not in n}
    places |= {name: at for name, (_, _, at) in parts.items()}
    return tuple(sorted(places, key=places.get)) if parts else dtype.names


@functools.cache
def struct_class():
    """The type of elements of arrays of such structs, made when the first is."""
    import numpy as np

    class StructWithBits(np.void):
        """A C struct with bit-fields; `x["name"]` reads and assigns these as other fields."""

        __slots__ = ()

        def __getitem__(self, key):
            part = _parts(self.dtype).get(key) if isinstance(key, str) else None
            if part is None:
                return super().__getitem__(key)
            kind, bits, at = part
            value = sum(
                int(self.getfield(np.uint8, byte)) << 8 * k
                for k, byte in enumerate(range(at // 8, (at + bits - 1) // 8 + 1))
            )
            value = value >> at % 8 & (1 << bits) - 1
            if kind == "b":
                return bool(value)
            return value - (1 << bits) if kind == "i" and value >> bits - 1 else value

        def __setitem__(self, key, value):
            part = _parts(self.dtype).get(key) if isinstance(key, str) else None
            if part is None:
                super().__setitem__(key, value)
                return
            kind, bits, at = part
            number = int(bool(value)) if kind == "b" else operator.index(value)
            low = -(1 << bits - 1) if kind == "i" else 0
            if not low <= number < low + (1 << bits):
                raise OverflowError(
                    f"{key}: {number} does not fit in C's bit-field of {bits} bits; got {number}; "
                    f"expected {low} to {low + (1 << bits) - 1}; pass such a number"
                )
            first, last = at // 8, (at + bits - 1) // 8
            mask, number = (1 << bits) - 1 << at % 8, number << at % 8
            for k, byte in enumerate(range(first, last + 1)):
                kept = int(self.getfield(np.uint8, byte)) & ~(mask >> 8 * k)
                self.setfield(kept & 255 | (number & mask) >> 8 * k & 255, np.uint8, byte)

        def __str__(self):
            return "(" + ", ".join(f"{n}={self[n]}" for n in members(self.dtype)) + ")"

        __repr__ = __str__

    StructWithBits.__module__, StructWithBits.__qualname__ = __name__, "StructWithBits"
    return StructWithBits


def __getattr__(name):  # for pickles
    if name == "StructWithBits":
        return struct_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def has_bits(dtype):
    """Whether there are bit-fields in it, or in a struct in it."""
    return any(":" in n or has_bits(dtype[n].base) for n in dtype.names or ())


def assign(target, value):
    """Store the fields of a struct, or the items of an array of structs, that a tuple gives."""
    names = () if target.ndim else members(target.dtype)
    for name, item in zip(names or range(len(target)), value, strict=True):
        inner = target.dtype.fields.get(name, (None,))[0] if names else target.dtype
        if isinstance(item, (tuple, list)) and inner is not None and has_bits(inner.base):
            assign(target[name], item)
        else:
            target[name] = item
