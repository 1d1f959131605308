"""Calls and members: functions of the text and their templates, and the words of CUDA and OpenCL C."""

from __future__ import annotations

import ast
import functools
import re

import numpy as np

from ..syntax.nodes import CType
from . import complex_words, groups, methods, prelude, records, tiles, vectors, warps, words
from .numbers import Aggregate, Lanes, Number, Pointer, Variable, common, is_complex, is_float
from .trees import INDICES, at, known_value, root


def expression_member(body, place, owner, name, is_used=True):
    axis = "xyz".find(name)
    if owner[0] == "name" and owner[2] in INDICES and axis >= 0 and len(name) == 1:
        return body.query(INDICES[owner[2]], axis, place)
    if owner[0] == "name" and owner[2] in INDICES and body.find(owner[2]) is None:
        raise body.error(place, f"'{owner[2]}' has x, y and z; got '{name}'", "name one of them")
    if any(known.endswith(f"::{name}") for known in body.unit.constants):
        v = methods.owner(body, owner)
        if v is not None and f"{v.record.name}::{name}" in body.unit.constants:
            return body.evaluate(("name", place, f"{v.record.name}::{name}", None))
    is_place = owner[0] in ("name", "index", "member") or owner[:1] + owner[2:3] == ("unary", "*")
    if is_place:
        from .expressions import place_of, value_of

        found = place_of(body, owner)
        if found.record is not None and not (
            isinstance(found, Variable) and found.kind == "pointer"
        ):
            return value_of(body, records.member_place(body, found, name, place), place)
        v = value_of(body, found, place) if getattr(found, "kind", "") != "pointer" else None
    else:
        v = body.evaluate(owner)
    if isinstance(v, Aggregate):
        return records.picked(body, v, name, place)
    if isinstance(v, Number) and is_complex(v.dtype) and name in ("x", "y"):
        return complex_words.member(body, place, v, "real" if name == "x" else "imag")
    what = "a pointer, whose members are p->" + name if v is None else "a number"
    raise body.error(place, f"'.{name}' of {what}", "take the member of a struct or vector")


def expression_call(body, place, callee, args, is_used=True):
    if callee[0] == "member" and callee[3] in ("real", "imag") and not args:
        v = body.number(callee[2])
        if is_complex(v.dtype):
            return complex_words.member(body, place, v, callee[3])
    for kinds in (tiles, groups):
        made = kinds.call(body, place, callee, args)
        if made is not kinds.UNKNOWN:
            return made
    if callee[0] == "member" and callee[3] in body.unit.method_names:
        v = methods.owner(body, callee[2])
        if v is not None and methods.found(v.record, callee[3]):
            return methods.call(body, place, v, callee[3], args, is_used)
    closure = body.find(callee[2]) if callee[0] == "name" else None
    if isinstance(closure, methods.Closure):
        return methods.call_closure(body, place, closure, args)
    v = methods.functor(body, callee, "operator()")
    if v is not None:
        return methods.call(body, place, v, "operator()", args, is_used)
    if callee[0] != "name":
        raise body.error(place, "only functions that are named can be called", "name it")
    name, given = callee[2], callee[3]
    if name in body.unit.functions or name in body.unit.templates:
        return call_function(body, body.t, place, name, given, args, is_used)
    if name == "sincos" and len(args) == 3:
        name = "sincos3"
    made = words.UNKNOWN
    if name not in words.TAKES_EXPRESSIONS:
        made, args = vectors.call(body, place, name, args)
        made = words.UNKNOWN if made is vectors.UNKNOWN else made
    if made is words.UNKNOWN:
        made = words.call(body, place, name, args, is_used)
    if made is words.UNKNOWN:
        known = prelude.translation()
        if name in known.unit.functions or name in known.unit.templates:
            made = call_function(body, known, place, name, given, args)
            if name == "abs_diff" and made.dtype.startswith("int"):  # may need all bits
                made = Number(body.converted(made, "u" + made.dtype, place), "u" + made.dtype)
            return made
        if name[-1:] == "f" and name[:-1] in known.unit.templates:  # fdimf, frexpf...
            singles = [_as_single(body, a) for a in args]
            return call_function(body, known, place, name[:-1], given, singles)
        raise body.error(
            place, f"the function '{name}' is not known", "define it in the text as __device__"
        )
    return made


def _as_single(body, e):
    """An argument of the form for float32 of a function: numbers with a fraction become float32."""
    v = body.evaluate(e)
    if isinstance(v, Number) and is_float(v.dtype):
        v = Number(body.converted(v, "float32", e[1]), "float32")
    return ("value", e[1], v)


def call_function(body, t, place, name, given, args, is_used=True):
    """A call of a function that a text defines: the body's own, or that of `prelude`."""
    values = [body.evaluate(a) for a in args]
    key = None
    if name in t.unit.templates:
        function, key = instance(body, t, place, name, given, values)
    else:
        function = t.unit.functions[name]
        if name in t.unit.overloads:
            function = overload(t.unit, name, values) or function
    if function.form in ("place", "itself"):
        return methods.applied(body, place, function, args, is_used)
    return call_chosen(body, t, place, function, args, values, key)


def referred(body, function, args):
    """The place that a function returns of which the first argument is that place."""
    e = args[0]
    if e[0] == "value":
        return e[2]
    from .expressions import place_of

    return place_of(body, e)


def call_chosen(body, t, place, function, args, values=None, key=None):
    """A call of a Function with some arguments, of which the values may be known."""
    name = function.name
    args = completed(function, args)
    if values is None or len(values) < len(args):
        values = [body.evaluate(a) for a in args]
    if key is None:
        key = name
        if name in t.unit.overloads:
            key = (name, *(str(c) for c, _, _ in function.parameters))
    if function.is_kernel:
        raise body.error(place, f"'{name}' is a kernel", "call a __device__ function")
    if len(values) != len(function.parameters):
        raise body.error(
            place, f"'{name}' takes {len(function.parameters)} arguments; got {len(values)}",
            "give as many",
        )  # fmt: skip
    compiled, hidden = t.device_function(function, key, place)
    is_for_all = warps.function_uses(t, name)
    nodes = []
    for e, v, (made, parameter, _) in zip(args, values, function.parameters, strict=True):
        nodes += passed(body, made, v, e, f"'{parameter}' of '{name}'", place, is_for_all)
    for key in hidden:
        if key[0] == "active":
            nodes.append(warps.active(body, place))
        elif key[0] == "array":
            array = body.variable(key[1], place).name
            nodes.append(body.read(array[key[2]] if isinstance(array, dict) else array, place))
        else:
            nodes.append(body.query(key[1], key[2], place).plain)
    call = at(ast.Call(func=known_value(compiled, place), args=nodes, keywords=[]), place)
    result = function.result
    if result.base == "void" and not result.is_pointer:
        node = ast.Expr(value=call)
        body.emit(warps.for_all(node) if is_for_all else node, place)
        return None
    if is_for_all and not result.record:
        return warps.run(body, place, compiled, nodes, result.base)
    if result.record:
        found = records.variable(body, body.fresh(plain_name(name)), result.record)
        names = [ast.Name(id=n, ctx=ast.Store()) for n in found.name]
        if len(names) == 1:
            body.assign(found.name[0], call, place)
        else:
            body.emit(
                ast.Assign(targets=[ast.Tuple(elts=names, ctx=ast.Store())], value=call), place
            )
        parts = zip(found.name, result.record.leaves, strict=True)
        return Aggregate(
            result.record, tuple(Number(body.read(n, place), d) for n, (d, _) in parts)
        )
    kept = body.fresh(plain_name(name))
    body.assign(kept, call, place)
    return Number(body.read(kept, place), result.base)


def plain_name(name):
    """A name of C, ``operator+`` and ``Type::name`` among them, as one of Python."""
    if name.isidentifier():
        return name
    head, _, tail = name.rpartition("::")
    if tail.startswith("operator"):
        tail = "operator_" + "_".join(str(ord(c)) for c in tail[8:])
    return "_".join(re.findall(r"\w+", head)) + (f"_{tail}" if head else tail)


def passed(body, made, v, e, what, place, is_for_all=False):
    """Python's arguments for a parameter of a CType, of a value of C and its expression."""
    from . import expressions

    if made.is_reference:
        v = expressions.place_of(body, e) if e[0] != "value" else v
        if not isinstance(v, Pointer) or (v.is_const and not made.is_const):
            raise body.error(place, f"{what} is {made} &", "give a variable or an element")
    if (
        made.record
        and isinstance(v, (Pointer, Lanes))
        and not made.is_pointer
        and not made.is_reference
    ):
        v = expressions.value_of(body, v, place)  # a struct whose member function this is
    is_pointer = made.is_pointer or made.is_reference
    if is_pointer != isinstance(v, Pointer) or v is None:
        raise body.error(place, f"{what} is {made}", "give what it expects")
    if is_pointer:
        if v.record is not made.record or (v.dtype != made.base and made.record is None):
            raise body.error(
                place, f"{what} is {made}; got elements of {v.record or v.dtype}",
                "give an array of its type",
            )  # fmt: skip
        if v.stored:
            raise body.error(
                place, f"{what} is {made}; got {v.dtype} in memory of {v.stored}",
                "pass a pointer to the memory's own type, or to the union",
            )  # fmt: skip
        offset = body.call_known(np.int64, [body.offset(v, place)], place)
        return [*(body.read(n, place) for n in records.array_names(v.array)), offset]
    if made.record:
        v = records.fitting(body, v, made.record, place)
        pairs = zip(v.parts, made.record.leaves, strict=True)
        return [body.converted(x, d, place) for x, (d, _) in pairs]
    v = body.number(("value", place, v))
    if body.predicate and is_for_all:
        return [body.read(warps.kept(body, v, made.base, place), place)]
    return [body.converted(v, made.base, place)]


def takes(function, count):
    """Whether a function may be called with that many arguments."""
    made = function.parameters
    return count == len(made) or (count < len(made) and made[count][0].default is not None)


def completed(function, args):
    """The arguments, and the values of parameters that are left out."""
    if len(args) >= len(function.parameters) or not takes(function, len(args)):
        return args
    return [*args, *(c.default for c, _, _ in function.parameters[len(args) :])]


def overload(unit, name, values):
    """The function of that name whose parameters are nearest to the values, or None where none takes them."""
    best, found = -1, None
    for f in unit.overloads.get(name, [unit.functions[name]]):
        if not takes(f, len(values)):
            continue
        score = 0
        for v, (made, _, _) in zip(values, f.parameters, strict=False):
            record = getattr(v, "record", None)
            is_place = isinstance(v, Pointer) and record is not None  # of a struct
            if record is not made.record or (
                made.is_pointer != isinstance(v, Pointer) and not is_place
            ):
                score = -1
                break
            score += record is not None or v.dtype == made.base
        if score > best:
            best, found = score, f
    return found


def referenced(t, tree, found):
    """Adds names of variables that are passed as references, which need an address."""
    if isinstance(tree, tuple) and len(tree) > 3 and tree[0] == "call" and tree[2][0] == "name":
        name = tree[2][2]
        functions = t.unit.overloads.get(name) or [t.unit.functions.get(name)]
        if name in t.unit.templates:
            template = t.unit.templates[name]
            functions = [t.parser.instance(name, template.open_values())]
        for f in filter(None, functions):
            for e, (made, _, _) in zip(tree[3], f.parameters, strict=False):
                if made.is_reference and root(e) is not None:
                    found.add(root(e))
    if isinstance(tree, (tuple, list)):
        for one in tree:
            referenced(t, one, found)
    return found


def _wider(a, b):
    return a if a == b else common(a, b)


def instance(body, t, place, name, given, values):
    template = t.unit.templates[name]
    bound = [g if isinstance(g, CType) else body.number(g).value for g in given or ()]
    open_ = template.open_values()
    if len(bound) < len(open_):
        form = t.parser.instance(name, [*bound, *open_[len(bound) :]])
        for k in range(len(bound), len(open_)):
            found = [
                v for v, (p, _, _) in zip(values, form.parameters, strict=False)
                if p.base == f"?{k}" and v is not None
            ]  # fmt: skip
            if not found and template.parameters[k][2] is not None:
                break  # the others have defaults
            if not found:
                raise body.error(
                    place, f"the template parameter {template.parameters[k][0]} of '{name}' is not known",
                    f"write {name}<...>(...)",
                )  # fmt: skip
            records_ = [v.record for v in found if getattr(v, "record", None)]
            if records_:
                bound.append(CType(records_[0].name, record=records_[0]))
            else:
                bound.append(CType(functools.reduce(_wider, (v.dtype for v in found))))
    return t.parser.instance(name, bound), (name, *map(str, bound))
