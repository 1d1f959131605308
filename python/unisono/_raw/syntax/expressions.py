"""Expressions of C by precedence, each ``(kind, place, ...)``."""

from __future__ import annotations

from . import definitions, statements, traits, types
from .lexer import number
from .nodes import CType
from .types import SPACES

_LEVELS = [
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
]  # fmt: skip
TEXTURES = {"tex1D", "tex2D", "tex3D", "tex1Dfetch"}  # templates that no text defines
# Function objects of cooperative_groups.h, which are templates of a type.
OF_TILES = {"plus", "less", "greater", "bit_and", "bit_or", "bit_xor"}
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


def expression(p):
    made = assignment(p)
    while p.token.text == ",":
        place = p.place
        p.at += 1
        made = ("comma", place, made, assignment(p))
    return made


def assignment(p):
    left = conditional(p)
    if p.token.kind == "op" and p.token.text in _ASSIGN:
        place, op = p.place, p.token.text
        p.at += 1
        return ("assign", place, op, left, assignment(p))
    return left


def conditional(p):
    test = binary(p, 0)
    if p.token.text != "?":
        return test
    place = p.place
    p.at += 1
    yes = expression(p)
    p.expect(":")
    return ("choose", place, test, yes, assignment(p))


def binary(p, level):
    if level == len(_LEVELS):
        return unary(p)
    left = binary(p, level + 1)
    while p.token.kind == "op" and p.token.text in _LEVELS[level]:
        place, op = p.place, p.token.text
        p.at += 1
        left = ("binary", place, op, left, binary(p, level + 1))
    return left


def unary(p):
    place, word = p.place, p.token.text
    if p.take("++", "--"):
        return ("step", place, word[0], unary(p), True)
    if word == "*" and p.peek() == "this":
        p.at += 2
        return postfix(p, ("name", place, "this", None))
    if p.take("+", "-", "!", "~", "*", "&"):
        return ("unary", place, word, unary(p))
    if word == "sizeof":
        p.at += 1
        p.expect("(")
        made = types.cast_type(p) if types.is_type(p) else expression(p)
        p.expect(")")
        return ("sizeof", place, made)
    if word in ("offsetof", "__builtin_offsetof") and p.peek() == "(":
        return offset(p)
    if word == "(" and types.is_type(p, 1):
        p.at += 1
        made = types.cast_type(p)
        p.expect(")")
        if p.token.text == "{":  # (T){...}
            return postfix(p, ("cast", place, made, statements.initializer(p)))
        if made.record and not made.is_pointer and p.take("("):  # (float4)(a, b, c, d)
            items = [assignment(p)]
            while p.take(","):
                items.append(assignment(p))
            p.expect(")")
            return postfix(p, ("vector", place, made, items))
        return ("cast", place, made, unary(p))
    return postfix(p, primary(p))


def offset(p):
    """``offsetof(T, member)``, as the address of that member of a null pointer."""
    place = p.place
    p.at += 1
    p.expect("(")
    made = types.cast_type(p)._replace(is_pointer=True)
    p.expect(",")
    null = ("cast", place, made, ("number", place, 0, "int32"))
    found = ("member", place, ("unary", place, "*", null), p.name())
    while p.take("."):
        found = ("member", place, found, p.name())
    p.expect(")")
    return ("cast", place, CType("uint64"), ("unary", place, "&", found))


def postfix(p, made):
    while True:
        place = p.place
        if p.take("["):
            made = ("index", place, made, expression(p))
            p.expect("]")
        elif p.take("++", "--"):
            made = ("step", place, p.tokens[p.at - 1].text[0], made, False)
        elif p.token.text == "->" and made == (
            "unary",
            made[1],
            "&",
            ("name", made[1], "this", None),
        ):
            p.at += 1
            made = ("member", place, made[3], p.name())
        elif p.token.text in (".", "->"):
            made = made if p.token.text == "." else ("unary", place, "*", made)
            p.at += 1
            made = ("member", place, made, p.name())
        elif p.token.text == "(":
            p.at += 1
            args = []
            while not p.take(")"):
                args.append(assignment(p))
                if p.token.text != ")":
                    p.expect(",")
            made = ("call", place, _of_reference(p, made, args), args)
        else:
            return made


def _of_reference(p, called, args):
    """What is called; ``tex2D(reference, x, y)`` as ``tex2D<type>``, which is read of texture objects, too."""
    if called[0] == "name" and called[2] in TEXTURES and called[3] is None and args:
        found = p.unit.textures.get(args[0][2]) if args[0][0] == "name" else None
        if found is not None:
            return (*called[:3], [found.value])
    return called


def primary(p):
    t, place = p.token, p.place
    if t.kind in ("number", "char"):
        p.at += 1
        return ("number", place, *number(t))
    if t.kind == "text":
        p.at += 1
        text = t.text
        while p.token.kind == "text":  # texts that follow each other are one
            text = text[:-1] + p.token.text[1:]
            p.at += 1
        return ("text", place, text)
    if p.take("("):
        made = expression(p)
        p.expect(")")
        return made
    if t.text in ("true", "false"):
        p.at += 1
        return ("number", place, int(t.text == "true"), "bool")
    if t.text == "this":
        p.at += 1
        return ("unary", place, "&", ("name", place, "this", None))
    if t.text == "[":
        return closure(p)
    if t.text in ("static_cast", "reinterpret_cast"):
        p.at += 1
        p.expect("<")
        made = types.cast_type(p)
        p.expect(">")
        p.expect("(")
        value = expression(p)
        p.expect(")")
        return ("cast", place, made, value)
    if types.is_type(p) and t.text not in SPACES:  # T(x)
        made, _ = types.named_type(p)
        if made.record and p.token.text == "{":  # T{...}
            return ("cast", place, made, statements.initializer(p))
        p.expect("(")
        if made.record:
            items = []
            while not p.take(")"):
                items.append(assignment(p))
                p.take(",")
            statements.ones(p, t.text == "dim3", items)
            return ("cast", place, made, ("list", place, items))
        if p.take(")"):
            return ("cast", place, made, ("number", place, 0, "int32"))
        value = assignment(p)
        if made.base.startswith("complex") and p.take(","):
            value = ("complex", place, made.base, value, assignment(p))
        p.expect(")")
        return ("cast", place, made, value)
    if t.text == "::" and p.peek().isidentifier():  # ::exp(x), of no namespace
        p.at += 1
        t = p.token
    if t.kind == "name":
        if traits.is_test(p):
            return traits.test(p)
        name = p.name()
        while p.take("::"):
            if traits.is_test(p):
                return traits.test(p)
            joined = f"{name}::{p.name()}"
            name = p.tokens[p.at - 1].text  # std::min
            if joined in p.unit.constants or joined in p.unit.functions:
                name = joined
        bound = p.bound.get(name)
        if bound is not None:
            return ("number", place, bound, "bool" if isinstance(bound, bool) else "int32")
        if p.token.text == "<" and (
            name in p.unit.templates or name in TEXTURES or _is_of_groups(p, name)
        ):
            return ("name", place, name, template_arguments(p))
        return ("name", place, name, None)
    raise p.error(f"expected an expression; got '{t.text}'", "complete it")


def _is_of_groups(p, name):
    """Whether the name in front of ``<`` is a template of cooperative groups."""
    is_one = name == "tiled_partition" or (name in OF_TILES and types.is_type(p, 1))
    return is_one and p.has_tiles


def template_argument(p):
    return types.cast_type(p) if types.is_type(p) else binary(p, 8)


def template_arguments(p):
    p.expect("<")
    made = []
    while not types.ends_arguments(p):
        made.append(template_argument(p))
        p.take(",")
    return made


def closure(p):
    """``[...](parameters) { ... }``: what it takes in, its parameters and its body."""
    place = p.place
    p.at += 1
    is_by_reference = False
    while not p.take("]"):
        is_by_reference = is_by_reference or p.token.text == "&"
        p.at += 1
    parameters = definitions.parameters_of(p) if p.token.text == "(" else []
    while p.take("mutable", "__device__", "__host__", "noexcept"):
        pass
    if p.take("->"):
        types.cast_type(p)
    return ("lambda", place, parameters, statements.block(p), is_by_reference)
