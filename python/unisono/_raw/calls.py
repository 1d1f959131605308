"""Calls and members: functions of the text and their templates, and the words of CUDA and OpenCL C."""

from __future__ import annotations

import ast
import functools

import numpy as np

from . import complex_words, prelude, words
from .numbers import Number, Pointer, common, is_complex
from .parser import CType
from .trees import INDICES, at, known_value


def expression_member(body, place, owner, name, is_used=True):
    axis = "xyz".find(name)
    if owner[0] == "name" and owner[2] in INDICES and axis >= 0 and len(name) == 1:
        return body.query(INDICES[owner[2]], axis, place)
    v = body.evaluate(owner) if owner[0] != "name" or body.find(owner[2]) else None
    if isinstance(v, Number) and is_complex(v.dtype) and name in ("x", "y"):
        return complex_words.member(body, place, v, "real" if name == "x" else "imag")
    raise body.error(place, f"'.{name}' is a member of a struct", "structs are not translated")


def expression_call(body, place, callee, args, is_used=True):
    if callee[0] == "member" and callee[3] in ("real", "imag") and not args:
        v = body.number(callee[2])
        if is_complex(v.dtype):
            return complex_words.member(body, place, v, callee[3])
    if callee[0] != "name":
        raise body.error(place, "only functions that are named can be called", "name it")
    name, given = callee[2], callee[3]
    if name in body.unit.functions or name in body.unit.templates:
        return call_function(body, body.t, place, name, given, args)
    made = words.call(body, place, name, args, is_used)
    if made is words.UNKNOWN:
        known = prelude.translation()
        if name in known.unit.functions or name in known.unit.templates:
            made = call_function(body, known, place, name, given, args)
            if name == "abs_diff" and made.dtype.startswith("int"):  # may need all bits
                made = Number(body.converted(made, "u" + made.dtype, place), "u" + made.dtype)
            return made
        raise body.error(
            place, f"the function '{name}' is not known", "define it in the text as __device__"
        )
    return made


def call_function(body, t, place, name, given, args):
    """A call of a function that a text defines: the body's own, or that of `prelude`."""
    values = [body.evaluate(a) for a in args]
    if name in t.unit.templates:
        function, key = instance(body, t, place, name, given, values)
    else:
        function, key = t.unit.functions[name], name
    if function.is_kernel:
        raise body.error(place, f"'{name}' is a kernel", "call a __device__ function")
    if len(values) != len(function.parameters):
        raise body.error(
            place, f"'{name}' takes {len(function.parameters)} arguments; got {len(values)}",
            "give as many",
        )  # fmt: skip
    compiled, hidden = t.device_function(function, key, place)
    nodes = []
    for v, (made, parameter, _) in zip(values, function.parameters, strict=True):
        if made.is_pointer != isinstance(v, Pointer) or v is None:
            raise body.error(place, f"'{parameter}' of '{name}' is {made}", "give what it expects")
        if isinstance(v, Pointer):
            if v.dtype != made.base:
                raise body.error(
                    place, f"'{parameter}' of '{name}' is {made}; got elements of {v.dtype}",
                    "give an array of its type",
                )  # fmt: skip
            nodes += [
                body.read(v.array, place),
                body.call_known(np.int64, [body.offset(v, place)], place),
            ]
        else:
            nodes.append(body.converted(v, made.base, place))
    for key in hidden:
        if key[0] == "array":
            nodes.append(body.read(body.variable(key[1], place).name, place))
        else:
            nodes.append(body.query(key[1], key[2], place).plain)
    call = at(ast.Call(func=known_value(compiled, place), args=nodes, keywords=[]), place)
    if function.result.base == "void":
        body.emit(ast.Expr(value=call), place)
        return None
    kept = body.fresh(name)
    body.assign(kept, call, place)
    return Number(body.read(kept, place), function.result.base)


def _wider(a, b):
    return a if a == b else common(a, b)


def instance(body, t, place, name, given, values):
    template = t.unit.templates[name]
    bound = [g if isinstance(g, CType) else body.number(g).value for g in given or ()]
    open_ = [CType(f"?{k}") for k in range(len(template.parameters))]
    if len(bound) < len(open_):
        form = t.parser.instance(name, [*bound, *open_[len(bound) :]])
        for k in range(len(bound), len(open_)):
            found = [
                v.dtype for v, (p, _, _) in zip(values, form.parameters, strict=False)
                if p.base == f"?{k}" and v is not None
            ]  # fmt: skip
            if not found:
                raise body.error(
                    place, f"the template parameter {template.parameters[k][0]} of '{name}' is not known",
                    f"write {name}<...>(...)",
                )  # fmt: skip
            bound.append(CType(functools.reduce(_wider, found)))
    return t.parser.instance(name, bound), (name, *map(str, bound))
