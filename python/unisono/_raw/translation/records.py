"""Structs and vector types of C text: their layout in memory, their values, and their members.

A pointer to one is an array of each dtype that its numbers have, all over the same memory, and an offset in its unit (the
largest number in it); a variable is one Python variable a number, unless its address is taken.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

import numpy as np

from . import reinterpreted
from .numbers import Aggregate, Lanes, Number, Pointer, Variable, itemsize
from .trees import at

_LANES = re.compile(r"(u?(?:char|short|int|long|longlong)|float|double|half)(1|2|3|4|8|16)$")
_NUMBERS = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "half": "float16",
    "float": "float32", "double": "float64",
}  # fmt: skip
C_NAMES = {
    "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
}  # fmt: skip
MOST_NUMBERS = 512  # of a struct that is copied, number by number


class Member(NamedTuple):
    """A member: its CType, with extents as integers, and its offset in bytes."""

    type: object
    offset: int


class Record:
    """A struct, a union, or a vector type: then `lanes` is how many numbers it has."""

    __slots__ = (
        "align", "defaults", "dtypes", "lanes", "leaves", "members", "methods", "name", "size", "stored", "unit",
    )  # fmt: skip

    def __init__(self, name, members, size, align, lanes=0, stored=""):
        self.name, self.members, self.size, self.align, self.lanes = (
            name,
            members,
            size,
            align,
            lanes,
        )
        self.stored = stored  # of a union: the dtype of the numbers of which its members are bits
        self.leaves = tuple(leaves(members))  # (dtype, offset in bytes) of each number
        if stored:
            self.leaves = tuple((stored, o) for o in range(0, size, itemsize(stored)))
        self.dtypes = tuple(dict.fromkeys(d for d, _ in self.leaves))
        self.unit = max(map(itemsize, self.dtypes), default=1)
        self.methods = {}  # names of functions of the text by those of member functions; "" makes one
        self.defaults = {}  # first values of members, by name

    def __repr__(self):
        return self.name


def leaves(members):
    """The numbers of members in the order of memory, as (dtype, offset in bytes)."""
    for member in members.values():
        made = member.type
        size = made.record.size if made.record else itemsize(made.base)
        for k in range(count_of(made.extents)):
            if made.record:
                yield from ((d, member.offset + k * size + o) for d, o in made.record.leaves)
            else:
                yield made.base, member.offset + k * size


def count_of(extents):
    """How many elements an array of these extents has."""
    return int(np.prod(extents, dtype=np.int64)) if extents else 1


def vector(dtype, lanes, is_cuda=False, ctype=None):
    """The vector type of that many numbers; three take the room of four in OpenCL C, and their own in CUDA C."""
    key = dtype, lanes, is_cuda
    if key not in _vectors:
        from ..syntax.nodes import CType

        size = itemsize(dtype)
        room = lanes if is_cuda or lanes != 3 else 4
        align = min(16, room * size) if room != 3 else size
        members = {f"s{k:x}": Member(CType(dtype), k * size) for k in range(lanes)}
        name = f"{C_NAMES[dtype]}{lanes}"
        _vectors[key] = Record(name, members, room * size, align if is_cuda else room * size, lanes)
    return _vectors[key]


_vectors = {}


def vector_named(name, is_cuda):
    """The vector type of that name, or None."""
    if is_cuda and name == "dim3":
        return vector("uint32", 3, True)
    parts = _LANES.match(name)
    if parts is None:
        return None
    kind, lanes = _NUMBERS[parts[1]], int(parts[2])
    if is_cuda and (lanes > 4 or kind == "float16"):
        return None
    if not is_cuda and (lanes == 1 or "longlong" in name):
        return None
    return vector(kind, lanes, is_cuda)


def struct(name, given, least_align=1):
    """The struct of (name, CType) pairs, laid out as C does."""
    members, end, align = {}, 0, least_align
    for member, made in given:
        size = made.record.size if made.record else itemsize(made.base)
        one = made.record.align if made.record else size
        align = max(align, one)
        end += -end % one
        members[member] = Member(made, end)
        end += size * count_of(made.extents)
    return Record(name, members, max(1, end + -end % align), align)


def union(name, given, least_align=1):
    """The union of (name, CType) pairs: its memory is unsigned numbers as wide as the widest in it."""
    members = {member: Member(made, 0) for member, made in given}
    numbers = list(leaves(members))
    unit = max(itemsize(d) for d, _ in numbers)
    align = max(
        [least_align, unit, *(m.type.record.align for m in members.values() if m.type.record)]
    )
    end = max(o + itemsize(d) for d, o in numbers)
    return Record(name, members, end + -end % align, align, stored=f"uint{8 * unit}")


# ---- members
def lanes_of(record, name):
    """The numbers that ``.xyz``, ``.s01``, ``.lo`` and their like name, or None."""
    n = record.lanes
    if not n:
        return None
    whole = n + n % 2
    halves = {
        "lo": range(whole // 2), "hi": range(whole // 2, whole), "even": range(0, whole, 2), "odd": range(1, whole, 2),
    }  # fmt: skip
    if name in halves:
        found = [k for k in halves[name] if k < n]  # there is no fourth of three
    elif (
        name[:1] in ("s", "S")
        and len(name) > 1
        and all(c in "0123456789abcdefABCDEF" for c in name[1:])
    ):
        found = [int(c, 16) for c in name[1:]]
    else:
        found = ["xyzw".find(c) for c in name]
    return (
        found
        if found and min(found) >= 0 and max(found) < n and len(found) in (1, 2, 3, 4, 8, 16)
        else None
    )


def of_lanes(record, lanes):
    """The type of some numbers of a vector."""
    is_cuda = record.size == 3 * itemsize(record.dtypes[0]) or record.lanes == 1
    return vector(record.dtypes[0], len(lanes), is_cuda)


def _first_leaf(record, member):
    """The position of a member's first number among the leaves."""
    return next(k for k, (_, o) in enumerate(record.leaves) if o >= member.offset)


def around(record, name):
    """The name of the member without a name in C (which begins with "<") that has the one of that name, or None."""
    for outer, member in record.members.items():
        inner = member.type.record if outer.startswith("<") else None
        if inner is not None and (name in inner.members or around(inner, name)):
            return outer
    return None


def missing(body, place, record, name):
    raise body.error(
        place, f"'{record.name}' has no member '{name}'",
        f"it has {', '.join(record.members)}",
    )  # fmt: skip


def picked(body, value, name, place):
    """A member of an Aggregate."""
    lanes = lanes_of(value.record, name)
    if lanes is not None:
        if len(lanes) == 1:
            return value.parts[lanes[0]]
        return Aggregate(of_lanes(value.record, lanes), tuple(value.parts[k] for k in lanes))
    member = value.record.members.get(name)
    if member is None and around(value.record, name):
        return picked(body, picked(body, value, around(value.record, name), place), name, place)
    if member is None:
        missing(body, place, value.record, name)
    if member.type.extents:
        raise body.error(place, f"'{name}' is an array of a value", "store the value in a variable")
    if value.record.stored and member.type.record is None:
        return reinterpreted.first(body, value.parts[0], member.type.base, place)
    if value.record.stored:
        raise body.error(place, f"'{name}' of a value of a union", "store the value in a variable")
    first = _first_leaf(value.record, member)
    if member.type.record is None:
        return value.parts[first]
    inner = member.type.record
    return Aggregate(inner, value.parts[first : first + len(inner.leaves)])


def member_place(body, owner, name, place):
    """Where a member of a place lies: a Variable, a Pointer or Lanes."""
    record = owner.record
    lanes = lanes_of(record, name)
    if lanes is not None:
        targets = tuple(leaf_place(body, owner, k, place) for k in lanes)
        return targets[0] if len(lanes) == 1 else Lanes(of_lanes(record, lanes), targets)
    member = record.members.get(name)
    if member is None and around(record, name):
        inner = member_place(body, owner, around(record, name), place)
        return member_place(body, inner, name, place)
    if member is None:
        missing(body, place, record, name)
    made, first = member.type, _first_leaf(record, member)
    if isinstance(owner, Pointer):
        if made.record is None:
            return leaf_pointer(body, owner, made.base, member.offset, place, made.extents)
        return inner_pointer(body, owner, made, member.offset, place)
    if made.record is None:
        return leaf_place(body, owner, first, place)
    count = len(made.record.leaves)
    return Lanes(
        made.record, tuple(leaf_place(body, owner, first + k, place) for k in range(count))
    )


def leaf_place(body, owner, k, place):
    """Where the number k of a place lies."""
    if isinstance(owner, Lanes):
        return owner.targets[k]
    dtype, offset = owner.record.leaves[k]
    return leaf_pointer(body, owner, dtype, offset, place)


def leaf_pointer(body, p, dtype, offset, place, extents=()):
    """A pointer to a number, or to the first of an array of numbers, in what `p` points to."""
    size = itemsize(dtype)
    array = p.array[dtype] if isinstance(p.array, dict) else p.array
    node = scaled(body, p.offset, p.record.unit // size, offset // size, place)
    stored = stored_of(p, dtype)
    return Pointer(array, node, dtype, extents[1:], p.is_const, None, bool(extents), stored)


def stored_of(p, dtype):
    """The dtype of the array of which the numbers in what `p` points to are bits, or ""."""
    stored = p.stored or p.record.stored
    return "" if stored == dtype else stored


def inner_pointer(body, p, made, offset, place):
    """A pointer to a struct or vector in what `p` points to."""
    inner = made.record
    array = p.array
    if isinstance(array, dict):
        array = {d: array[d] for d in inner.dtypes}
        array = array[inner.dtypes[0]] if len(array) == 1 else array
    node = scaled(body, p.offset, p.record.unit // inner.unit, offset // inner.unit, place)
    stored = p.stored or p.record.stored
    return Pointer(
        array,
        node,
        inner.dtypes[0],
        made.extents[1:],
        p.is_const,
        inner,
        bool(made.extents),
        stored,
    )


def scaled(body, node, factor, more, place):
    """``node * factor + more`` of an offset, which may be None."""
    if node is None:
        return at(ast.Constant(value=more), place) if more else None
    if isinstance(node, ast.Constant):
        return at(ast.Constant(value=node.value * factor + more), place)
    if factor == 1 and not more:
        return node
    node = body.wide(node, place)
    if factor != 1:
        node = ast.BinOp(left=node, op=ast.Mult(), right=ast.Constant(value=factor))
    if more:
        node = ast.BinOp(left=node, op=ast.Add(), right=ast.Constant(value=more))
    return at(node, place)


# ---- values
def loaded(body, p, place):
    """The Aggregate to which a pointer points."""
    from .expressions import kept

    _few(body, p.record, place)
    p = kept(body, p, place)
    parts = []
    for k, (dtype, _) in enumerate(p.record.leaves):
        one = leaf_place(body, p, k, place)
        parts.append(Number(body.element(one, place), dtype))
    return settled(body, Aggregate(p.record, tuple(parts)), place)


def _few(body, record, place):
    if len(record.leaves) > MOST_NUMBERS:
        raise body.error(
            place, f"'{record.name}' has {len(record.leaves)} numbers, and {MOST_NUMBERS} are copied at most",
            "use a pointer to it",
        )  # fmt: skip


def settled(body, value, place):
    """The Aggregate with parts that may be written twice, and that later stores do not change."""
    parts = []
    for v in value.parts:
        if v.value is None:
            name = body.fresh("part")
            body.assign(name, v.node, place)
            v = Number(body.read(name, place), v.dtype)
        parts.append(v)
    return Aggregate(value.record, tuple(parts))


def read(body, target, place):
    """The Aggregate of Lanes."""
    parts = []
    for t in target.targets:
        node = body.element(t, place) if isinstance(t, Pointer) else body.read(t.name, place)
        parts.append(Number(node, t.dtype))
    return settled(body, Aggregate(target.record, tuple(parts)), place)


def targets_of(body, target, place):
    """The places of the numbers of a Pointer to a record, or of Lanes."""
    if isinstance(target, Lanes):
        return target.targets
    _few(body, target.record, place)
    return [leaf_place(body, target, k, place) for k in range(len(target.record.leaves))]


def stored(body, target, v, place):
    """Assign a value to a Pointer to a record, or to Lanes; gives the value as it then is."""
    from .expressions import kept, put

    v = fitting(body, v, target.record, place)
    if isinstance(target, Pointer):
        target = kept(body, target, place)
    for t, part in zip(targets_of(body, target, place), v.parts, strict=True):
        put(body, t, part, place)
    return v


def fitting(body, v, record, place):
    """The value as one of the record: the same one, a vector of the same types, or a number for each lane."""
    if isinstance(v, Aggregate):
        if v.record is not record and [d for d, _ in v.record.leaves] != [
            d for d, _ in record.leaves
        ]:
            raise body.error(
                place, f"'{v.record.name}' becomes '{record.name}'",
                f"convert it, as in convert_{record.name}(v)" if record.lanes else "give a value of its type",
            )  # fmt: skip
        if v.record is not record and not (record.lanes and v.record.lanes):
            raise body.error(
                place, f"'{v.record.name}' becomes '{record.name}'", "give a value of its type"
            )
        return settled(body, Aggregate(record, v.parts), place)
    if isinstance(v, Number) and record.lanes:
        dtype = record.dtypes[0]
        one = as_dtype(body, v, dtype, place)
        return settled(body, Aggregate(record, (one,) * record.lanes), place)
    raise body.error(place, f"a value of '{record.name}' is needed", "give one of its type")


def listed(body, record, value, place):
    """The Aggregate of a list of initial values; what is left out is 0."""
    if has_union(record):
        raise body.error(
            place,
            f"a list of values of '{record.name}', which has a union",
            "declare a variable of it",
        )
    parts = [None] * len(record.leaves)
    _fill(body, record, value, parts, 0)
    for k, (dtype, _) in enumerate(record.leaves):
        if parts[k] is None:
            parts[k] = body.constant(0, dtype, place)
        elif parts[k].dtype != dtype:
            parts[k] = as_dtype(body, parts[k], dtype, place)
    return settled(body, Aggregate(record, tuple(parts)), place)


def as_dtype(body, v, dtype, place):
    """The Number converted."""
    if v.value is not None:
        return body.constant(v.value if dtype[0] in "fc" else int(v.value), dtype, place)
    return Number(body.converted(v, dtype, place), dtype)


def _fill(body, record, value, parts, first):
    names = list(record.members)
    k = 0
    for item in value[2]:
        name, item = (item[2], item[3]) if item[0] == "named" else (None, item)
        if name is not None:
            if name not in names:
                missing(body, item[1], record, name)
            k = names.index(name)
        if k >= len(names):
            raise body.error(item[1], f"'{record.name}' has {len(names)} members", "leave some out")
        member = record.members[names[k]]
        start = first + _first_leaf(record, member)
        _fill_member(body, member.type, item, parts, start)
        k += 1


def _fill_member(body, made, item, parts, start):
    if item[0] == "list" and made.extents:
        inner = made._replace(extents=made.extents[1:])
        step = count_of(inner.extents) * (len(made.record.leaves) if made.record else 1)
        for k, one in enumerate(item[2][: made.extents[0]]):
            _fill_member(body, inner, one, parts, start + k * step)
    elif item[0] == "list" and made.record:
        _fill(body, made.record, item, parts, start)
    elif made.record:
        v = fitting(body, body.evaluate(item), made.record, item[1])
        parts[start : start + len(v.parts)] = v.parts
    else:
        parts[start] = body.number(item[2][0] if item[0] == "list" else item)


def variable(body, name, record):
    """A Variable of one Python variable for each number."""
    names = tuple(body.new_name(f"{name}_{k}") for k in range(len(record.leaves)))
    return Variable("record", names, record.name, record=record)


def lanes(v):
    """The Lanes of such a Variable."""
    return Lanes(
        v.record,
        tuple(Variable("number", n, d) for n, (d, _) in zip(v.name, v.record.leaves, strict=True)),
    )


def arrays(body, record, name):
    """Names of arrays for memory of the record: one, or one for each dtype."""
    if len(record.dtypes) == 1:
        return body.new_name(name)
    return {d: body.new_name(f"{name}_{d}") for d in record.dtypes}


def array_names(array):
    """The names of the arrays of a Pointer, in order."""
    return list(array.values()) if isinstance(array, dict) else [array]


def has_array(record):
    """Whether an array or a union is among its members, or it is one: its variables lie in memory."""
    return bool(record.stored) or any(
        m.type.extents or (m.type.record and has_array(m.type.record))
        for m in record.members.values()
    )


def has_union(record):
    """Whether it is a union, or one is among its members."""
    return bool(record.stored) or any(
        m.type.record is not None and has_union(m.type.record) for m in record.members.values()
    )
