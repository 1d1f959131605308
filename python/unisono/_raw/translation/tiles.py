"""Tiles of CUDA C's cooperative groups: 1 to 32 work-items of a block that follow each other.

Their functions are those of warps, of that width (`warps`).
"""

from __future__ import annotations

import ast

import numpy as np

from . import groups, warps
from .numbers import Number
from .trees import at

UNKNOWN = groups.UNKNOWN
_SHUFFLES = {"shfl": "__shfl", "shfl_up": "__shfl_up", "shfl_down": "__shfl_down", "shfl_xor": "__shfl_xor"}  # fmt: skip
_COUNTS = {"thread_rank", "size", "num_threads", "meta_group_rank", "meta_group_size"}
_OPERATORS = {
    "plus": "add", "less": "min", "greater": "max", "bit_and": "and", "bit_or": "or", "bit_xor": "xor",
}  # fmt: skip
_KINDS = {"reduce": "reduce", "inclusive_scan": "inclusive", "exclusive_scan": "exclusive"}


def call(body, place, callee, args):
    """The Number of a call of a tile's method or function, None of one without a value, or UNKNOWN."""
    if callee[0] == "member":
        method, group, rest = callee[3], callee[2], args
    elif callee[2] in body.unit.functions or callee[2] in body.unit.templates:
        return UNKNOWN
    else:
        method, group, rest = callee[2], args[0] if args else None, args[1:]
    kind, width = groups.group_of(body, group)
    if kind != "tile":
        return UNKNOWN
    if method == "sync":
        return warps.call(body, place, "__syncwarp", [])
    if method in _COUNTS and not rest:
        return _count(body, place, method, width)
    if method in _SHUFFLES and len(rest) == 2:
        return warps.call(
            body, place, _SHUFFLES[method], [*rest, ("number", place, width, "int32")]
        )
    if method in ("any", "all", "ballot") and len(rest) == 1:
        return _vote(body, place, method, rest[0], width)
    if method in _KINDS and len(rest) in (1, 2):
        op = _operator(body, place, rest[1]) if len(rest) == 2 else "add"
        return warps.collected(
            body, place, method, _KINDS[method], op, rest[:1], _number(width, place)
        )
    known = sorted({*_SHUFFLES, *_COUNTS, *_KINDS, "all", "any", "ballot", "sync"})
    raise body.error(
        place, f"'{method}' of a tile is not translated, with {len(rest)} arguments", f"use {', '.join(known)}"
    )  # fmt: skip


def _number(value, place):
    return at(ast.Constant(value=value), place)


def _count(body, place, method, width):
    if method in ("size", "num_threads"):
        return body.constant(width, "uint32", place)
    if method == "meta_group_size":
        top = ast.BinOp(
            left=warps.block_size(body, place), op=ast.Add(), right=_number(width - 1, place)
        )
        node = ast.BinOp(left=top, op=ast.FloorDiv(), right=_number(width, place))
    else:
        op = ast.Mod() if method == "thread_rank" else ast.FloorDiv()
        node = ast.BinOp(left=warps.place_in_block(body, place), op=op, right=_number(width, place))
    return Number(body.call_known(np.uint32, [at(node, place)], place), "uint32")


def _vote(body, place, method, condition, width):
    """The bits of the warp's vote that are the tile's, or what they say."""
    if method == "all":
        condition = ("unary", place, "!", condition)
    bits = warps.call(body, place, "__ballot", [condition]).node
    if width < 32:
        lane = ast.BinOp(
            left=warps.place_in_block(body, place), op=ast.Mod(), right=_number(32, place)
        )
        rank = ast.BinOp(
            left=warps.place_in_block(body, place), op=ast.Mod(), right=_number(width, place)
        )
        first = ast.BinOp(left=lane, op=ast.Sub(), right=rank)
        moved = ast.BinOp(
            left=bits, op=ast.RShift(), right=body.call_known(np.uint32, [at(first, place)], place)
        )
        mask = body.constant((1 << width) - 1, "uint32", place).node
        bits = at(ast.BinOp(left=moved, op=ast.BitAnd(), right=mask), place)
    if method == "ballot":
        return Number(bits, "uint32")
    op = ast.Eq() if method == "all" else ast.NotEq()
    zero = body.constant(0, "uint32", place).node
    return Number(at(ast.Compare(left=bits, ops=[op], comparators=[zero]), place), "bool")


def _operator(body, place, e):
    name = e[2][2] if e[0] == "call" and e[2][0] == "name" else None
    if name not in _OPERATORS:
        raise body.error(
            place, "the operator of a tile's reduction is not translated", f"use cg::{'<T>(), cg::'.join(_OPERATORS)}<T>()"
        )  # fmt: skip
    return _OPERATORS[name]
