"""Syntax trees of constants, parameters, places and comprehensions."""

from __future__ import annotations

import ast
import inspect
import math

from .blocks import Unreadable


def is_same_place(target, value):
    """Whether an operation in place writes where it read."""
    if isinstance(target, ast.Name):
        return isinstance(value, ast.Name) and value.id == target.id
    if isinstance(target, ast.Subscript):
        return (
            isinstance(value, ast.Subscript)
            and value.value is target.value
            and _is_same_index(value.slice, target.slice)
        )
    return (
        isinstance(value, ast.Attribute)
        and value.value is target.value
        and value.attr == target.attr
    )


def _is_same_index(a, b):
    if isinstance(a, ast.Slice) and isinstance(b, ast.Slice):
        return a.lower is b.lower and a.upper is b.upper and a.step is b.step
    return a is b


def fill(made, node, source):
    """Give a comprehension what its loops say, the first of which takes its items from `source`."""
    while not getattr(node, "is_item", False):
        if isinstance(node, ast.For) and not node.orelse and len(node.body) == 1:
            made.generators.append(ast.comprehension(node.target, source or node.iter, [], 0))
            source = None
        elif (
            isinstance(node, ast.If) and not node.orelse and len(node.body) == 1 and made.generators
        ):
            made.generators[-1].ifs.append(node.test)
        else:
            raise Unreadable("a comprehension")
        node = node.body[0]
    if isinstance(made, ast.DictComp):
        made.key, made.value = node.value.elts
    else:
        made.elt = node.value


def slice_of(lower, upper, step=None):
    def part(node):
        return (
            None
            if node is None or (isinstance(node, ast.Constant) and node.value is None)
            else node
        )

    return ast.Slice(part(lower), part(upper), step)


def constant(value):
    """The tree that the compiler folds to a constant."""
    if isinstance(value, tuple):
        return ast.Tuple([constant(v) for v in value], ast.Load())
    if isinstance(value, frozenset):
        return ast.Set([constant(v) for v in value])
    if isinstance(value, slice):
        return slice_of(
            constant(value.start), constant(value.stop), value.step and constant(value.step)
        )
    if isinstance(value, complex) and value.real:
        sign = ast.Sub() if math.copysign(1, value.imag) < 0 else ast.Add()
        return ast.BinOp(constant(value.real), sign, ast.Constant(complex(0, abs(value.imag))))
    if (
        isinstance(value, (int, float, complex))
        and not isinstance(value, bool)
        and "-" in str(value)[:2]
    ):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def parameters(code, defaults=(), keyword_defaults=None, annotations=None):
    """`ast.arguments` of a code object, and the annotation of its result."""
    names = [ast.arg(n) for n in code.co_varnames]
    count = code.co_argcount + code.co_kwonlyargcount
    positional, keywords = names[: code.co_argcount], names[code.co_argcount : count]
    star = named = None
    if code.co_flags & inspect.CO_VARARGS:
        star, count = names[count], count + 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        named = names[count]
    given = {}
    if keyword_defaults is not None:
        given = dict(
            zip((k.value for k in keyword_defaults.keys), keyword_defaults.values, strict=True)
        )
    types = {}
    if annotations is not None:
        items = annotations.elts
        types = dict(zip((k.value for k in items[::2]), items[1::2], strict=True))
    for name in names:
        name.annotation = types.get(name.arg)
    made = ast.arguments(
        posonlyargs=positional[: code.co_posonlyargcount],
        args=positional[code.co_posonlyargcount :],
        vararg=star,
        kwonlyargs=keywords,
        kw_defaults=[given.get(k.arg) for k in keywords],
        kwarg=named,
        defaults=list(defaults),
    )
    return made, types.get("return")
