"""Cooperative groups of CUDA C: blocks and the grid as objects that count and synchronise; `tiles` has parts of blocks.

A kernel in whose text ``this_grid`` stands is launched as one group of all its work-items, so that a barrier of the grid is
one of the group, at which devices cut it into several kernels; what it asks of blocks follows from their size, a parameter of its own.
"""

from __future__ import annotations

import ast

import numpy as np

from ..._jit.desugar import Known
from .numbers import Number, Variable
from .trees import at, mentions

UNKNOWN = object()
TYPES = {"grid_group": "grid", "thread_block": "block", "thread_block_tile": "tile"}
_MAKERS = {"this_grid": "grid", "this_thread_block": "block"}
_METHODS = {"sync", "thread_rank", "size", "num_threads", "block_rank", "num_blocks", "is_valid"}


def spans_the_grid(function):
    """Whether a kernel is launched as one group."""
    return "this_grid" in mentions(function.body, set())


def group_of(body, e):
    """(which group an expression names: "grid", "block", "tile" or None, the work-items of a tile)."""
    if e is not None and e[0] == "call" and e[2][0] == "name":
        if e[2][2] == "tiled_partition" and e[3]:
            return "tile", _width_of_tile(body, e)
        return None if e[3] else _MAKERS.get(e[2][2]), 0
    found = body.find(e[2]) if e is not None and e[0] == "name" else None
    if found is None or found.kind != "group":
        return None, 0
    return found.name, found.extents[0] if found.extents else 0


def _width_of_tile(body, e):
    """Of ``tiled_partition<width>(group)`` or ``tiled_partition(group, width)``."""
    _, place, (_, _, _, given), (group, *rest) = e
    (width,) = given if given and not rest else rest if len(rest) == 1 and not given else (None,)
    width = None if width is None else body.number(width).value
    kind, most = group_of(body, group)
    if width not in (1, 2, 4, 8, 16, 32) or kind not in ("block", "tile") or width > (most or 32):
        raise body.error(
            place, "tiles are of 1, 2, 4, 8, 16 or 32 work-items of a block or of a larger tile",
            "write tiled_partition<32>(this_thread_block())",
        )  # fmt: skip
    return width


def declared(body, made, name, value, here):
    """Keep a variable that is a group; returns whether it is one."""
    kind, width = group_of(body, value)
    if made.base in TYPES and kind != TYPES[made.base]:
        raise body.error(
            here, f"'{name}' is a {made.base}",
            "give it this_grid(), this_thread_block() or tiled_partition<32>(block)",
        )  # fmt: skip
    if kind is not None:
        body.scopes[-1][name] = Variable("group", kind, "", (width,) if width else ())
    return kind is not None


def call(body, place, callee, args):
    """The Number of a call of a group's method or function, None of one without a value, or UNKNOWN."""
    if callee[0] == "member":
        method, group, rest = callee[3], callee[2], args
    else:
        method, group, rest = callee[2], args[0] if args else None, args[1:]
    kind, _ = group_of(body, group)
    if kind is None:
        return UNKNOWN
    if callee[0] == "name" and (method in body.unit.functions or method in body.unit.templates):
        raise body.error(
            place,
            f"a group is passed to '{method}'",
            "make the group there, of this_thread_block()",
        )
    if method not in _METHODS or rest:
        raise body.error(
            place, f"'{method}' of a group is not translated", f"use {', '.join(sorted(_METHODS))}"
        )
    if method == "sync":
        return barrier(body, place, "un.grid_barrier" if kind == "grid" else "un.barrier")
    if method == "is_valid":
        return body.constant(1, "bool", place)
    asked = {
        "thread_rank": ("local_id", "local_size"), "size": ("local_size",), "num_threads": ("local_size",),
        "block_rank": ("group_id", "num_groups"), "num_blocks": ("num_groups",),
    }[method]  # fmt: skip
    if kind == "grid" and method in ("thread_rank", "size", "num_threads"):
        asked = tuple(word.replace("local", "global") for word in asked)
    node = rank(body, place, *asked) if len(asked) > 1 else product(body, place, *asked)
    dtype = "uint64" if kind == "grid" else "uint32"
    return Number(body.call_known(getattr(np, dtype), [node], place), dtype)


def barrier(body, place, word="un.barrier"):
    """All work-items of a launch's group meet."""
    node = ast.Call(func=Known(id=word, ctx=ast.Load()), args=[], keywords=[])
    body.emit(ast.Expr(value=node), place)


def rank(body, place, index, extent):
    """The linear index of three of them."""
    made = body.query(index, 2, place).plain
    for axis in (1, 0):
        scaled = ast.BinOp(left=made, op=ast.Mult(), right=body.query(extent, axis, place).plain)
        made = ast.BinOp(left=scaled, op=ast.Add(), right=body.query(index, axis, place).plain)
    return at(made, place)


def product(body, place, extent):
    """The product of an extent along three axes."""
    a, b, c = (body.query(extent, axis, place).plain for axis in range(3))
    made = ast.BinOp(left=ast.BinOp(left=a, op=ast.Mult(), right=b), op=ast.Mult(), right=c)
    return at(made, place)


def query(body, name, axis, place):
    """The node of what a work-item of one group of the whole grid asks of blocks."""
    if name in ("global_id", "global_size"):
        return asked(name, axis)
    extent = ast.Name(id=body.hidden_parameter(("block", axis)), ctx=ast.Load())
    if name == "local_size":
        return extent
    of_grid = asked("global_id" if name in ("local_id", "group_id") else "global_size", axis)
    op = ast.Mod() if name == "local_id" else ast.FloorDiv()
    return ast.BinOp(left=of_grid, op=op, right=extent)


def asked(name, axis):
    """The node of what Python's kernels ask of their index space."""
    function = Known(id=f"un.{name}", ctx=ast.Load())
    return ast.Call(func=function, args=[ast.Constant(value=axis)], keywords=[])
