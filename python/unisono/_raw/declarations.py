"""Declarations of C text: numbers, arrays of a block or a thread, and pointers."""

from __future__ import annotations

import ast

import numpy as np

from .._jit.desugar import Known
from . import words
from .numbers import Pointer, Variable, is_float
from .trees import at, flatten_list, known_value


def extent(body, e, place):
    if e is None:
        raise body.error(place, "an extent is missing", "write a number")
    v = body.number(e)
    if v.value is None or is_float(v.dtype) or v.value <= 0:
        raise body.error(
            place,
            "the extent of an array is a positive constant",
            "write a number, or #define one",
        )
    return int(v.value)


def statement_declare(body, place, items, is_extern):
    for made, name, value, here in items:
        declare(body, made, name, value, here, is_extern)


def declare(body, made, name, value, here, is_extern):
    if made.is_pointer:
        return declare_pointer(body, made, name, value, here)
    if made.base == "void":
        raise body.error(here, f"'{name}' is void", "write a type")
    if not made.extents and made.space != "local":
        py = body.new_name(name)
        given = body.number(value[2][0] if value[0] == "list" else value) if value else None
        node = (
            body.converted(given, made.base, here)
            if given
            else body.constant(0, made.base, here).node
        )
        body.assign(py, node, here)
        body.scopes[-1][name] = Variable("number", py, made.base)
        return None
    py = body.new_name(name)
    if is_extern or made.extents[:1] == (None,):
        extents = (dynamic_extent(body, made.base, name, here),)
        if value is not None:
            extents = (len(value[2]),)
    else:
        extents = tuple(extent(body, e, here) for e in made.extents)
    word = "un.local_array" if made.space == "local" else "un.private_array"
    size = int(np.prod(extents, dtype=np.int64)) if extents else 1
    dtype = known_value(getattr(np, words.NUMPY.get(made.base, made.base)), here)
    call = ast.Call(
        func=Known(id=word, ctx=ast.Load()), args=[ast.Constant(value=size), dtype], keywords=[]
    )
    body.used.add(py)
    target = ast.Name(id=py, ctx=ast.Store())
    body.top.append(at(ast.Assign(targets=[target], value=call), here))
    body.scopes[-1][name] = Variable("array", py, made.base, extents)
    if value is not None:
        fill(body, py, value, made.base, extents, here)
    return None


def fill(body, py, value, dtype, extents, here):
    flat = []
    flatten_list(value, extents, flat)
    for k in range(int(np.prod(extents))):
        given = body.number(flat[k]) if k < len(flat) and flat[k] else None
        v = body.converted(given, dtype, here) if given else body.constant(0, dtype, here).node
        body.store(Pointer(py, None, dtype), ast.Constant(value=k), v, here)


def dynamic_extent(body, dtype, name, here):
    if body.dynamic not in (None, name):
        raise body.error(
            here,
            "one array takes the launch's shared memory; got a second one",
            "give it an extent",
        )
    body.dynamic = name
    total, size = body.t.shared_bytes, np.dtype(words.NUMPY.get(dtype, dtype)).itemsize
    if total < size:
        raise body.error(
            here, f"'{name}' takes the launch's shared memory; got {total} bytes",
            "launch it with shared_mem= bytes",
        )  # fmt: skip
    return total // size


def declare_pointer(body, made, name, value, here):
    if value is None:
        raise body.error(
            here, f"'{name}' points nowhere", "give it an array, or an offset into one, at once"
        )
    p = body.pointer(value)
    if made.base not in (p.dtype, "void"):
        raise body.error(
            here, f"'{name}' points to {made.base}; got elements of {p.dtype}",
            "pointers keep the type of their elements",
        )  # fmt: skip
    offset = body.new_name(name + "_at")
    body.assign(offset, body.offset(p, here), here)
    found = Variable("pointer", p.array, p.dtype, (), made.is_const)
    body.scopes[-1][name] = found
    body.scopes[-1][name + " offset"] = offset
