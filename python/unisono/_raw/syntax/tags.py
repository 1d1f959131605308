"""Structs, enums and the attributes of their layout, and values of constant expressions in them."""

from __future__ import annotations

from ..translation import records
from ..translation.arithmetic import folded, wrapped
from . import classes, expressions, statements, types
from .lexer import number
from .nodes import CType


def attributes(p):
    """Takes ``__attribute__((...))`` and ``__align__(n)``, and keeps what they say of layouts."""
    while p.token.text in ("__attribute__", "__align__", "alignas"):
        word = p.token.text
        p.at += 1
        first = p.at
        p.parentheses()
        inside = [t for t in p.tokens[first : p.at] if t.text not in "()"]
        p.packed = p.packed or any("packed" in t.text for t in inside)
        is_align = word != "__attribute__" or any("aligned" in t.text for t in inside)
        numbers = [number(t)[0] for t in inside if t.kind == "number"]
        if is_align and numbers:
            p.least_align = int(numbers[0])


def struct(p, instance=""):
    """The type of a ``struct``, ``class`` or ``union``, at whose word the parser is, and its definition if there is one.

    `instance` is the name of an instance of a template.
    """
    place, word = p.place, p.token.text
    p.at += 1
    p.packed, p.least_align = False, 1
    attributes(p)
    tag = p.name() if p.token.kind == "name" else f"{word} {place.line}.{place.column}"
    p.take("final")
    template, tag = tag, instance or tag
    given = classes.bases(p) if p.token.text == ":" else []
    if not p.take("{"):
        found = p.unit.structs.get(tag)
        if found is None:
            raise p.error(f"'{word} {tag}' is not defined", "define it above", place)
        return found
    align, later, defaults = p.least_align, [], {}
    while not p.take("}"):
        given += classes.element(p, tag, later, defaults)
    p.packed, p.least_align = False, align
    attributes(p)
    if p.packed:
        raise p.error(
            f"'{tag}' is packed, so that numbers have no place of their size",
            "leave packed out, and order the members by size", place,
        )  # fmt: skip
    if not given and (word == "union" or not p.is_cuda):
        raise p.error(f"'{tag}' has no members", "write what it has", place)
    if len({n for n, _ in given}) < len(given):
        raise p.error(f"two members of '{tag}' have one name", "rename one", place)
    made = records.union if word == "union" else records.struct
    found = CType(tag, record=made(tag, given, p.least_align))
    p.unit.structs[tag] = p.unit.types[tag] = found
    if instance:
        p.bound = {**p.bound, template: found}
    if later or defaults or classes.made_by_functions(p, found.record):
        classes.complete(p, found, later, defaults)
    return found


def members(p, defaults):
    """The (name, CType) pairs of one declaration in a struct; their first values go to `defaults`."""
    made, _ = types.named_type(p)
    found = []
    while True:
        if made.is_pointer or p.token.text in ("*", "&"):
            raise p.error(
                "a member is a pointer", "keep an index, and pass the array to the kernel"
            )
        if made.record and p.take(";"):  # its members are the outer one's
            return [(f"<{made.base}>", made)]
        name = p.name()
        extents = tuple(whole(p, e) for e in types.extents(p))
        attributes(p)
        found.append((name, made._replace(extents=(*extents, *made.extents), space="")))
        if p.take("=") or p.token.text == "{":
            value = statements.initializer(p)
            defaults[name] = value if value[0] == "list" else ("list", value[1], [value])
        if not p.take(","):
            break
    p.expect(";")
    return found


def enumeration(p):
    """The type of an ``enum``, at whose word the parser is; its names are constants."""
    p.at += 1
    p.take("class", "struct")
    if p.token.kind == "name":
        p.unit.types[p.name()] = CType("int32")
    if p.take("{"):
        value = -1
        while not p.take("}"):
            place, name = p.place, p.name()
            value = whole(p, expressions.conditional(p)) if p.take("=") else value + 1
            p.unit.constants[name] = (CType("int32"), ("number", place, value, "int32"))
            if p.token.text != "}":
                p.expect(",")
    return CType("int32")


def whole(p, e):
    """The value of an expression of constants."""
    made = None
    if e is None:
        made = None
    elif e[0] == "number" and isinstance(e[2], int):
        made = e[2]
    elif e[0] == "name" and e[2] in p.unit.constants:
        made = whole(p, p.unit.constants[e[2]][1])
    elif e[0] == "unary" and e[2] == "-":
        made = -whole(p, e[3])
    elif e[0] == "cast" and e[2].base.lstrip("u").startswith("int") and not e[2].is_pointer:
        made = wrapped(whole(p, e[3]), e[2].base)
    elif e[0] == "binary":
        made = folded(e[2], whole(p, e[3]), whole(p, e[4]), "int64")
    if made is None:
        raise p.error("a constant is needed", "write a number, or #define one", e and e[1])
    return int(made)
