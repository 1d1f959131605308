"""Values of C text while it is translated: numbers, pointers and variables, and the dtypes in which C computes."""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

RANK = ["int32", "uint32", "int64", "uint64", "float32", "float64"]


class Number(NamedTuple):
    """A value of C: its node, its dtype, its value where it is a constant, and a node of the same value of any width."""

    node: ast.expr
    dtype: str
    value: object = None
    plain: object = None


class Pointer(NamedTuple):
    """A place in an array: the array's name, an offset or None, the dtype, and the extents that are left."""

    array: str
    offset: object
    dtype: str
    extents: tuple = ()
    is_const: bool = False
    record: object = (
        None  # of a struct or vector type: then `array` may be a dict of names by dtype
    )
    is_array: bool = False  # the first element of a member that is an array
    stored: str = ""  # the dtype of the array, where numbers are bits of it


class Aggregate(NamedTuple):
    """A value of a struct or vector type: its `records.Record`, and a Number for each number in it."""

    record: object
    parts: tuple


class Lanes(NamedTuple):
    """Places of the numbers of a struct or vector: Variables, or Pointers to elements."""

    record: object
    targets: tuple


class Variable(NamedTuple):
    """A name of C: a number, an array or a pointer (whose offset is a variable of that name, or none)."""

    kind: str
    name: str
    dtype: str
    extents: tuple = ()
    is_const: bool = False
    is_plain: bool = False  # the variable of a loop over a range: its value has 64 bits
    record: object = None  # of kind "record" `name` has one name for each number
    is_reference: bool = False
    stored: str = ""  # of a pointer, as there
    made: object = None  # the CType of a pointer that points nowhere yet


def itemsize(dtype):
    """Bytes of a number."""
    return np.dtype(dtype).itemsize


def promoted(dtype):
    """The dtype in which C computes with it."""
    if dtype == "float16":
        return "float32"
    return "int32" if dtype in ("bool", "int8", "uint8", "int16", "uint16") else dtype


def common(a, b):
    """The dtype in which C combines two; of a complex and a real number the wider complex one."""
    if is_complex(a) or is_complex(b):
        parts = [part_of(d) if is_complex(d) else d for d in (a, b)]
        return "complex128" if "float64" in parts else "complex64"
    return max(promoted(a), promoted(b), key=RANK.index)


def is_float(dtype):
    """Whether it is a real floating-point dtype."""
    return dtype.startswith("float")


def is_complex(dtype):
    """Whether it is a complex dtype."""
    return dtype.startswith("complex")


def part_of(dtype):
    """The dtype of a complex number's parts."""
    return "float32" if dtype == "complex64" else "float64"
