"""Numbers that C text reads and writes as bits of numbers of another dtype: members of unions, and pointers that were cast.

Such a `Pointer` has `stored`, the dtype of its array, and an offset in elements of its own dtype, which is no wider.
"""

from __future__ import annotations

import ast

import numpy as np

from . import words
from .numbers import Number, itemsize
from .trees import at


def _bits_of(dtype):
    """The unsigned dtype of its size."""
    return f"uint{8 * itemsize(dtype)}"


def _as(body, node, dtype, to, place):
    """The bits of a number as one of another dtype of its size."""
    if dtype == to:
        return node
    if dtype[0] in "iu" and to[0] in "iu":
        return body.call_known(getattr(np, to), [node], place)
    return words.as_bits(body, place, Number(node, dtype), to).node


def _word(body, p, place):
    """(index of the element of the array that has the number, position in it or None)."""
    offset = body.offset(p, place)
    ratio = itemsize(p.stored) // itemsize(p.dtype)
    if ratio == 1:
        return offset, None
    if isinstance(offset, ast.Constant):
        return tuple(at(ast.Constant(value=v), place) for v in divmod(offset.value, ratio))
    name = body.fresh("at")
    body.assign(name, body.call_known(np.int64, [offset], place), place)
    count = ast.Constant(value=ratio)
    index = ast.BinOp(left=body.read(name, place), op=ast.FloorDiv(), right=count)
    part = ast.BinOp(left=body.read(name, place), op=ast.Mod(), right=count)
    return at(index, place), at(part, place)


def _element(body, p, index, place):
    """The bits of an element of the array."""
    array = ast.Name(id=p.array, ctx=ast.Load())
    node = at(ast.Subscript(value=array, slice=index, ctx=ast.Load()), place)
    return _as(body, node, p.stored, _bits_of(p.stored), place)


def _shift(body, p, part, place):
    width = ast.Constant(value=8 * itemsize(p.dtype))
    made = at(ast.BinOp(left=part, op=ast.Mult(), right=width), place)
    return body.call_known(getattr(np, _bits_of(p.stored)), [made], place)


def _combined(a, op, b, place):
    return at(ast.BinOp(left=a, op=op, right=b), place)


def read(body, p, place):
    """The node of the number."""
    index, part = _word(body, p, place)
    bits = _element(body, p, index, place)
    narrow = _bits_of(p.dtype)
    if part is not None:
        bits = _combined(bits, ast.RShift(), _shift(body, p, part, place), place)
        bits = body.call_known(getattr(np, narrow), [bits], place)
    if p.dtype == "bool":
        zero = body.constant(0, narrow, place).node
        return at(ast.Compare(left=bits, ops=[ast.NotEq()], comparators=[zero]), place)
    return _as(body, bits, narrow, p.dtype, place)


def write(body, p, node, place):
    """Stores the number, which is of the pointer's dtype."""
    narrow, wide = _bits_of(p.dtype), _bits_of(p.stored)
    if p.dtype == "bool":
        bits = body.call_known(np.uint8, [node], place)
    else:
        bits = _as(body, node, p.dtype, narrow, place)
    index, part = _word(body, p, place)
    if part is not None:
        shift = body.fresh("shift")
        body.assign(shift, _shift(body, p, part, place), place)
        mask = body.constant(2 ** (8 * itemsize(p.dtype)) - 1, wide, place).node
        mask = _combined(mask, ast.LShift(), body.read(shift, place), place)
        kept = at(ast.UnaryOp(op=ast.Invert(), operand=mask), place)
        kept = _combined(_element(body, p, index, place), ast.BitAnd(), kept, place)
        bits = body.call_known(getattr(np, wide), [bits], place)
        bits = _combined(bits, ast.LShift(), body.read(shift, place), place)
        bits = _combined(kept, ast.BitOr(), bits, place)
    bits = body.call_known(getattr(np, wide), [bits], place)
    bits = _as(body, bits, wide, p.stored, place)
    target = ast.Subscript(value=ast.Name(id=p.array, ctx=ast.Load()), slice=index, ctx=ast.Store())
    body.emit(ast.Assign(targets=[target], value=bits), place)


def first(body, v, dtype, place):
    """The Number of a dtype in the lowest bits of an unsigned one."""
    narrow = _bits_of(dtype)
    v = Number(body.converted(v, narrow, place), narrow)
    if dtype == "bool":
        return Number(body.truth(v, place), dtype)
    return Number(_as(body, v.node, narrow, dtype, place), dtype)


def cast(p, dtype):
    """The pointer as one to numbers of another dtype that are no wider than its array's, or None."""
    stored = p.stored or p.dtype
    before, after = itemsize(p.dtype), itemsize(dtype)
    if p.record is not None or after > itemsize(stored) or isinstance(p.array, dict):
        return None
    offset = p.offset
    if offset is not None and after != before:
        count = ast.Constant(value=max(before, after) // min(before, after))
        op = ast.Mult() if before > after else ast.FloorDiv()
        offset = ast.copy_location(ast.BinOp(left=offset, op=op, right=count), offset)
        ast.fix_missing_locations(offset)
    return p._replace(
        dtype=dtype, offset=offset, extents=(), stored="" if dtype == stored else stored
    )
