"""Declarations of C text: numbers, arrays of a block or a thread, and pointers."""

from __future__ import annotations

import ast

import numpy as np

from ..._jit.desugar import Known
from . import expressions, groups, methods, records, words
from .numbers import Pointer, Variable, is_float, itemsize
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


def default(body, made, here):
    """The first value of a struct that has a constructor without arguments, or None."""
    if not methods.can_be_bare(body, made.record):
        return None
    bare = ("list", here, [])
    if not made.extents:
        return bare
    count = records.count_of([extent(body, e, here) for e in made.extents])
    return ("list", here, [bare] * count) if count <= records.MOST_NUMBERS else None


def put(body, target, v, here):
    """Assign a first value, whatever is const."""
    expressions.put(body, target, v, here)


def declare(body, made, name, value, here, is_extern):
    if groups.declared(body, made, name, value, here):
        return None
    if made.is_reference:
        return methods.declare_reference(body, made, name, value, here)
    if made.base == "auto" and not made.is_pointer:
        return methods.declare_auto(body, made, name, value, here)
    if made.is_pointer:
        return declare_pointer(body, made, name, value, here)
    if made.base == "void":
        raise body.error(here, f"'{name}' is void", "write a type")
    if value is not None and value[0] == "bare":
        value = None  # a constructor sets its members
    elif value is None and made.record and made.space != "local" and not is_extern:
        value = default(body, made, here)
    in_memory = made.extents or made.space == "local" or name in body.addressed
    if not in_memory and not (made.record and records.has_array(made.record)):
        return declare_value(body, made, name, value, here)
    if value is not None and value[0] == "list" and made.extents[:1] == (None,):
        made = made._replace(extents=(("number", here, len(value[2]), "int32"), *made.extents[1:]))
    if is_extern or made.extents[:1] == (None,):
        extents = (dynamic_extent(body, made, name, here),)
    else:
        extents = tuple(extent(body, e, here) for e in made.extents)
    array = memory(body, made, name, records.count_of(extents), here)
    found = Variable("array", array, made.base, extents, record=made.record)
    given = None
    if made.record and records.has_union(made.record) and value is not None and value[0] == "list":
        body.scopes[-1][name] = found
        return fill(body, array, value, made, extents, here)
    if made.record and value is not None and not extents:
        given = initial(body, made, value, here)
    elif value is not None and not extents:
        given = body.number(value[2][0] if value[0] == "list" else value)
    body.scopes[-1][name] = found
    if given is not None:
        put(body, Pointer(array, None, made.base, (), False, made.record), given, here)
    elif value is not None:
        fill(body, array, value, made, extents, here)
    return None


def memory(body, made, name, count, here):
    """The arrays of some elements, made at the top of the kernel."""
    record = made.record
    if made.space == "local" and body.spans_the_grid:
        raise body.error(
            here, f"'{name}' is shared by a block, in a kernel that synchronises the grid",
            "use memory of the grid, a part of it for each block",
        )  # fmt: skip
    array = records.arrays(body, record, name) if record else body.new_name(name)
    dtypes = record.dtypes if record else (made.base,)
    word = "un.local_array" if made.space == "local" else "un.private_array"
    for one, dtype in zip(records.array_names(array), dtypes, strict=True):
        size = count * record.size // itemsize(dtype) if record else count
        node = known_value(getattr(np, words.NUMPY.get(dtype, dtype)), here)
        args = [ast.Constant(value=size), node]
        call = ast.Call(func=Known(id=word, ctx=ast.Load()), args=args, keywords=[])
        body.used.add(one)
        if made.space != "local":
            body.private.add(one)
        target = ast.Name(id=one, ctx=ast.Store())
        body.top.append(at(ast.Assign(targets=[target], value=call), here))
    return array


def initial(body, made, value, here):
    """The first value of a struct or vector."""
    if methods.makes(made.record) and value[0] == "list":
        return methods.made(body, made.record, value[2], here)
    if value[0] == "list":
        return records.listed(body, made.record, value, here)
    return records.fitting(body, body.evaluate(value), made.record, here)


def declare_value(body, made, name, value, here):
    """A variable that has no address."""
    if made.record:
        if value is None:
            given = records.listed(body, made.record, ("list", here, []), here)
        else:
            given = initial(body, made, value, here)
        found = records.variable(body, name, made.record)
        if body.predicate:
            for one, (dtype, _) in zip(found.name, made.record.leaves, strict=True):
                body.begin_at_zero(one, dtype, here)
        put(body, records.lanes(found), given, here)
        body.scopes[-1][name] = found
        return
    py = body.new_name(name)
    if body.predicate:
        body.begin_at_zero(py, made.base, here)
    if value is None:
        node = body.constant(0, made.base, here).node
    else:
        given = body.number(value[2][0] if value[0] == "list" else value)
        node = body.converted(given, made.base, here)
    body.assign(py, node, here)
    body.scopes[-1][name] = Variable("number", py, made.base)


def fill(body, array, value, made, extents, here, first=None):
    """Sets the elements of an array, of which `first` points to the first one, to a list of values."""
    flat = []
    if extents:
        flatten_list(value, extents, flat)
    else:
        flat.append(value)
    zero = ("list", here, []) if made.record else ("number", here, 0, "int32")
    first = first or Pointer(array, None, made.base, (), False, made.record)
    for k in range(records.count_of(extents)):
        item = flat[k] if k < len(flat) and flat[k] else zero
        item = item[2][0] if item[0] == "list" and not made.record else item
        if made.record and item[0] == "list" and records.has_union(made.record):
            target = body.moved(first, body.constant(k, "int32", here), here)
            fill_members(body, target, item, here)
            continue
        given = initial(body, made, item, here) if made.record else body.number(item)
        put(body, body.moved(first, body.constant(k, "int32", here), here), given, here)


def fill_members(body, target, value, here):
    """Sets what a Pointer to a struct with unions points to, by a list of values; what is left out is 0."""
    for t in records.targets_of(body, target, here):
        put(body, t, body.constant(0, t.dtype, here), here)
    names, k = list(target.record.members), 0
    most = 1 if target.record.stored else len(names)
    for item in value[2]:
        if item[0] == "named":
            k = names.index(item[2]) if item[2] in names else len(names)
            item = item[3]
        elif k >= most:
            raise body.error(here, f"'{target.record.name}' takes {most} values", "leave some out")
        if k >= len(names):
            raise body.error(here, f"'{target.record.name}' has no such member", "name another one")
        inner = records.member_place(body, target, names[k], here)
        if isinstance(inner, Pointer) and inner.is_array:
            raise body.error(
                here, f"'{names[k]}' is an array beside a union", "assign to its elements"
            )
        if item[0] == "list" and inner.record is not None and records.has_union(inner.record):
            fill_members(body, inner, item, here)
        elif item[0] == "list" and inner.record is not None:
            put(body, inner, records.listed(body, inner.record, item, here), here)
        else:
            item = item[2][0] if item[0] == "list" else item
            put(body, inner, expressions.computed(body, item), here)
        k += 1


def dynamic_extent(body, made, name, here):
    if body.dynamic not in (None, name):
        raise body.error(
            here,
            "one array takes the launch's shared memory; got a second one",
            "give it an extent",
        )
    body.dynamic = name
    total = body.t.shared_bytes
    size = made.record.size if made.record else itemsize(made.base)
    if total < size:
        raise body.error(
            here, f"'{name}' takes the launch's shared memory; got {total} bytes",
            "launch it with shared_mem= bytes",
        )  # fmt: skip
    return total // size


def pointer_to(p, made):
    """The Variable of a pointer of a CType that points to where a Pointer does."""
    return Variable(
        "pointer", p.array, p.dtype, (), made.is_const, record=p.record, stored=p.stored
    )


def declare_pointer(body, made, name, value, here):
    if value is None or expressions.is_null(value):
        offset = body.new_name(name + "_at")
        body.assign(offset, at(ast.Constant(value=0), here), here)
        body.scopes[-1][name] = Variable("pointer", None, made.base, made=made)
        body.scopes[-1][name + " offset"] = offset
        return
    p = body.pointer(value)
    made = made._replace(base="void") if made.base == "auto" else made
    p = expressions.retyped(body, p, made, here)
    offset = body.new_name(name + "_at")
    body.assign(offset, body.offset(p, here), here)
    body.scopes[-1][name] = pointer_to(p, made)
    body.scopes[-1][name + " offset"] = offset
