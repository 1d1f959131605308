"""Warp and sub-group functions of C text, and control flow around them.

A warp is 32 work-items of a group that follow each other, on every place. Its functions exchange values through local
memory (`warp_library`), for which all work-items of the group meet. Inside of an ``if`` all go through what contains such a
function, and a predicate, the variable `Body.predicate`, says who takes part: what else is there runs under it.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from ..._jit import warp_library
from . import groups
from .numbers import Number, is_complex
from .trees import at, known_value

UNKNOWN = object()
_SHUFFLE = re.compile(r"__shfl(?:_(up|down|xor))?(_sync)?")
_OPENCL_SHUFFLE = {
    "sub_group_broadcast": "idx", "sub_group_shuffle": "idx", "sub_group_shuffle_xor": "xor",
    "sub_group_shuffle_up": "up", "sub_group_shuffle_down": "down", "intel_sub_group_shuffle": "idx",
    "intel_sub_group_shuffle_xor": "xor",
}  # fmt: skip
_COLLECTIVE = re.compile(r"(sub|work)_group_(?:(reduce)|scan_(inclusive|exclusive))_(add|min|max)")
_REDUCE = re.compile(r"__reduce_(add|min|max|and|or|xor)_sync")
_VOTES = {
    "__ballot_sync", "__ballot", "__any_sync", "__any", "__all_sync", "__all", "__activemask", "sub_group_any",
    "sub_group_all", "work_group_any", "work_group_all", "sub_group_ballot",
}  # fmt: skip
_MEET = {"__syncwarp", "sub_group_barrier"}
_MATCH = {"__match_any_sync"}
_LANES = {
    "get_sub_group_local_id", "get_sub_group_id", "get_sub_group_size", "get_max_sub_group_size",
    "get_num_sub_groups",
}  # fmt: skip
_OF_TILES = {
    "shfl", "shfl_up", "shfl_down", "shfl_xor", "any", "all", "ballot", "reduce", "inclusive_scan", "exclusive_scan",
}  # fmt: skip
_BARRIERS = {"__syncthreads", "barrier", "work_group_barrier"}


def is_word(name):
    """Whether all work-items of the group meet in the function of that name."""
    return bool(
        name in _VOTES or name in _MEET or name in _MATCH or name in _OPENCL_SHUFFLE
        or _SHUFFLE.fullmatch(name) or _COLLECTIVE.fullmatch(name) or _REDUCE.fullmatch(name)
    )  # fmt: skip


def uses(t, tree):
    """Whether statements or expressions of C call such a function, or one of the text that does."""
    if isinstance(tree, tuple) and len(tree) > 3 and tree[0] == "call":
        kind, name = tree[2][0], tree[2][3 if tree[2][0] == "member" else 2]
        if kind in ("name", "member") and name in _OF_TILES and t.parser.has_tiles:
            return True
        is_warps = kind == "name" and is_word(name) and name not in t.unit.functions
        if is_warps or (kind == "name" and function_uses(t, name)):
            return True
    return isinstance(tree, (tuple, list)) and any(uses(t, one) for one in tree)


def function_uses(t, name):
    """Whether the function of the text does."""
    known = t.warp_functions
    if name not in known:
        known[name] = False
        if name in t.unit.templates:
            found = [t.parser.instance(name, t.unit.templates[name].open_values())]
        else:
            found = t.unit.overloads.get(name) or [t.unit.functions.get(name)]
        known[name] = any(f is not None and uses(t, f.body) for f in found)
    return known[name]


# ---- control flow
def for_all(node):
    """The statement, which all work-items execute whatever the predicate is."""
    node.is_for_all = True
    return node


def guarded(body, statements):
    """The statements under the predicate, but for those that are for all."""
    made, run = [], []
    test = lambda: ast.Name(id=body.predicate, ctx=ast.Load())  # noqa: E731
    for s in statements:
        if getattr(s, "is_for_all", False):
            if run:
                made.append(for_all(_placed(ast.If(test=test(), body=run, orelse=[]), run[0])))
            run = []
            made.append(s)
        else:
            run.append(s)
    if run:
        made.append(for_all(_placed(ast.If(test=test(), body=run, orelse=[]), run[0])))
    return made


def _placed(node, like):
    for n in ast.walk(node):
        if not hasattr(n, "lineno") and "lineno" in getattr(n, "_attributes", ()):
            ast.copy_location(n, like)
    return node


def branch(body, place, test, yes, no):
    """An ``if`` that contains warp functions."""
    outer = body.predicate
    chosen = _flag(body, "takes", place)
    before, body.out = body.out, []
    condition = body.condition(test)
    body.assign(chosen, condition, place)
    made, body.out = body.out, before
    body.out += guarded(body, made) if outer else made
    for content, is_no in ((yes, False), (no, True)):
        if content is None:
            continue
        mine = chosen
        if is_no:
            mine = _flag(body, "other", place)
            node = ast.UnaryOp(op=ast.Not(), operand=body.read(chosen, place))
            if outer:
                node = ast.BoolOp(op=ast.And(), values=[body.read(outer, place), node])
            body.emit(
                for_all(ast.Assign(targets=[ast.Name(id=mine, ctx=ast.Store())], value=node)), place
            )
        body.predicate = mine
        body.out += [for_all(s) for s in body.inside([content])]
        body.predicate = outer


def _flag(body, hint, place):
    """A variable that is false until it is assigned to."""
    name = body.fresh(hint)
    zero = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Constant(value=False))
    body.emit(for_all(zero), place)
    return name


def kept(body, v, dtype, place):
    """The name of a variable with the number, which is 0 where the predicate is false."""
    name = body.fresh("given")
    if body.predicate:
        body.begin_at_zero(name, dtype, place)
    body.assign(name, body.converted(v, dtype, place), place)
    return name


def returned(body, place, v, dtype):
    """A return behind warp functions, in which all work-items take part."""
    if body.predicate != body.base_predicate:
        raise body.error(
            place, "a return under a condition, in a function of which all work-items of a group take part",
            "assign to a variable, and return at the end",
        )  # fmt: skip
    name = kept(body, v, dtype, place)
    body.emit(for_all(ast.Return(value=body.read(name, place))), place)


# ---- functions
def call(body, place, name, args):
    """The Number of a call of a warp function, None of one without a value, or UNKNOWN."""
    if name in _LANES:
        return _lane(body, place, name)
    if not is_word(name):
        return UNKNOWN
    if name in _MEET:
        node = ast.Call(func=body.known("un.barrier"), args=[], keywords=[])
        body.emit(for_all(ast.Expr(value=node)), place)
        return None
    parts = _SHUFFLE.fullmatch(name)
    if parts:
        return _shuffled(body, place, name, parts[1] or "idx", args[1:] if parts[2] else args)
    if name in _OPENCL_SHUFFLE:
        return _shuffled(body, place, name, _OPENCL_SHUFFLE[name], args)
    if name in _VOTES:
        return _vote(body, place, name, args)
    parts = _REDUCE.fullmatch(name)
    if parts:
        return collected(body, place, name, "reduce", parts[1], args[1:])
    parts = _COLLECTIVE.fullmatch(name)
    if parts:
        kind = parts[2] or parts[3]
        width = block_size(body, place) if parts[1] == "work" else None
        return collected(body, place, name, kind, parts[4], args, width)
    v = _one(body, place, name, args[1:])
    value = [kept(body, v, v.dtype, place)]
    nodes = [
        *_reads(body, value, place),
        place_in_block(body, place),
        block_size(body, place),
        active(body, place),
    ]
    return run(body, place, warp_library.match, nodes, "uint32")


def _one(body, place, name, args):
    if len(args) != 1:
        raise body.error(place, f"{name} takes one value; got {len(args)}", "give one")
    return _number(body, place, name, args[0])


def _number(body, place, name, e):
    v = body.number(e)
    if v.dtype == "bool":
        v = Number(body.converted(v, "int32", place), "int32")
    if is_complex(v.dtype) or v.dtype == "float16":
        raise body.error(place, f"{name} of {v.dtype}", "give integers, float or double")
    return v


def _reads(body, names, place):
    return [body.read(n, place) for n in names]


def place_in_block(body, place):
    """The linear index of the work-item in its group."""
    return groups.rank(body, place, "local_id", "local_size")


def block_size(body, place):
    return groups.product(body, place, "local_size")


def active(body, place):
    if body.predicate:
        return body.read(body.predicate, place)
    return at(ast.Constant(value=True), place)


def run(body, place, function, nodes, dtype):
    """The Number that a function of the library gives; all work-items call it."""
    name = body.fresh("got")
    call = ast.Call(func=known_value(function, place), args=nodes, keywords=[])
    target = ast.Name(id=name, ctx=ast.Store())
    body.used.add(name)
    body.emit(for_all(ast.Assign(targets=[target], value=call)), place)
    return Number(body.read(name, place), dtype)


def _shuffled(body, place, name, kind, args):
    if len(args) not in (2, 3):
        raise body.error(
            place, f"{name} takes a mask, a value, a lane and a width", "give the first three"
        )
    v = _number(body, place, name, args[0])
    lane = body.number(args[1])
    width = body.number(args[2]) if len(args) == 3 else body.constant(32, "int32", place)
    if width.value not in (1, 2, 4, 8, 16, 32):
        raise body.error(place, f"{name}: the width is a constant power of 2 up to 32", "write 32")
    given = kept(body, v, v.dtype, place)
    distance = kept(body, lane, "int64", place)
    me = place_in_block(body, place)
    nodes = [me, body.read(distance, place), at(ast.Constant(value=int(width.value)), place)]
    source = ast.Call(func=known_value(warp_library.sources[kind], place), args=nodes, keywords=[])
    nodes = [
        body.read(given, place), me, at(source, place), block_size(body, place), active(body, place),
    ]  # fmt: skip
    return run(body, place, warp_library.shuffle, nodes, v.dtype)


def _vote(body, place, name, args):
    if name == "__activemask":
        truth = body.constant(1, "bool", place)
    else:
        args = args[1:] if name.endswith("_sync") else args
        if len(args) != 1:
            raise body.error(place, f"{name} takes a mask and a condition", "give both")
        truth = Number(body.condition(args[0]), "bool")
    if name.startswith("work_group"):
        one = Number(body.converted(truth, "int32", place), "int32")
        op = "max" if name.endswith("any") else "min"
        given = [("value", place, one)]
        made = collected(body, place, name, "reduce", op, given, block_size(body, place))
        return Number(body.converted(made, "bool", place), "bool")
    is_all = name.endswith(("all", "all_sync"))
    if is_all:
        truth = Number(at(ast.UnaryOp(op=ast.Not(), operand=truth.node), place), "bool")
    said = kept(body, truth, "bool", place)
    nodes = [
        body.read(said, place),
        place_in_block(body, place),
        block_size(body, place),
        active(body, place),
    ]
    bits = run(body, place, warp_library.ballot, nodes, "uint32")
    if "ballot" in name or name == "__activemask":
        return bits
    zero = body.constant(0, "uint32", place).node
    op = ast.Eq() if is_all else ast.NotEq()
    return Number(at(ast.Compare(left=bits.node, ops=[op], comparators=[zero]), place), "bool")


def collected(body, place, name, kind, op, args, width=None):
    """A reduction or scan of as many work-items as the node says, of a warp by default."""
    v = _one(body, place, name, args)
    if op in ("and", "or", "xor") and v.dtype.startswith("float"):
        raise body.error(place, f"{name} of {v.dtype}", "give integers")
    given = kept(body, v, v.dtype, place)
    width = width or at(ast.Constant(value=32), place)
    nodes = [
        body.read(given, place), place_in_block(body, place), block_size(body, place), width, active(body, place),
    ]  # fmt: skip
    return run(body, place, warp_library.collective(kind, op), nodes, v.dtype)


def _lane(body, place, name):
    me, size = place_in_block(body, place), block_size(body, place)
    number = lambda k: ast.Constant(value=k)  # noqa: E731
    if name == "get_max_sub_group_size":
        return body.constant(32, "uint32", place)
    if name == "get_sub_group_local_id":
        node = ast.BinOp(left=me, op=ast.Mod(), right=number(32))
    elif name == "get_sub_group_id":
        node = ast.BinOp(left=me, op=ast.FloorDiv(), right=number(32))
    elif name == "get_num_sub_groups":
        node = ast.BinOp(left=size, op=ast.Add(), right=number(31))
        node = ast.BinOp(left=node, op=ast.FloorDiv(), right=number(32))
    else:
        first = ast.BinOp(
            left=me, op=ast.Sub(), right=ast.BinOp(left=me, op=ast.Mod(), right=number(32))
        )
        node = ast.BinOp(left=size, op=ast.Sub(), right=first)
        node = body.call_known(np.minimum, [at(node, place), at(number(32), place)], place)
    return Number(body.call_known(np.uint32, [at(node, place)], place), "uint32")
