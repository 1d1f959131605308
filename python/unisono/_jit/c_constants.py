"""Constants of C text as Python's: what it declares const, and macros."""

from __future__ import annotations

import ast
import operator
import re
import struct


def constant_values(rows, dtypes):
    """Numbers, texts, arrays that cannot be written and structs that C text holds for good, by name."""
    import numpy as np

    made = {}
    for name, number, record, extents, held in rows:
        if isinstance(held, list):
            texts = np.array([*held, None], object)[:-1]
            made[name] = _tuples(texts.reshape(extents).tolist())
            continue
        dtype = np.dtype(number) if number else dtypes.get(record)
        if dtype is not None:
            whole = np.frombuffer(held, dtype)
            first = whole[0].item() if number else whole[0]
            made[name] = whole.reshape(extents) if extents else first
    return made


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


_tokens = re.compile(
    r"\s*(?:(?P<string>\"(?:\\.|[^\"\\])*\")|(?P<hex>0[xX][0-9a-fA-F]+)[uUlL]*"
    r"|(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?P<single>[fF])?[lL]?"
    r"|(?P<int>\d+)[uUlL]*|(?P<char>'(?:\\.|[^'\\])')|(?P<name>[A-Za-z_]\w*)|(?P<op><<|>>|[-+*/%()&|^~]))"
)


def macro_constants(macros, known):
    """Values of the macros that are numbers, text, or arithmetic of these and of other constants."""
    made = {}

    def value_of(name, open_):
        if name in known:
            return known[name]
        if name not in made and name in macros and name not in open_:
            try:
                made[name] = _evaluated(macros[name], lambda n: value_of(n, {*open_, name}))
            except (ValueError, SyntaxError, ZeroDivisionError, TypeError):
                made[name] = None
        found = made.get(name)
        if found is None:
            raise ValueError(name)
        return found

    for name in macros:
        try:
            value_of(name, set())
        except ValueError:
            made[name] = None
    return {name: value for name, value in made.items() if value is not None}


def _evaluated(text, value_of):
    parts, at = [], 0
    while at < len(text):
        token = _tokens.match(text, at)
        if not token:
            raise ValueError(text)
        at = token.end()
        kind = token.lastgroup if token.lastgroup != "single" else "real"
        if kind == "name":
            parts.append(f"({value_of(token['name'])!r})")
        elif kind == "real":
            number = float(token["real"])
            if token["single"]:
                number = struct.unpack("f", struct.pack("f", number))[0]
            parts.append(repr(number))
        elif kind == "int":
            digits = token["int"]
            parts.append(str(int(digits, 8 if digits.startswith("0") else 10)))
        elif kind == "char":
            parts.append(str(ord(ast.literal_eval(token["char"]))))
        else:
            parts.append(token[kind])
    return _computed(ast.parse(" ".join(parts), mode="eval").body)


_operations = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip


def _computed(node):
    """C's arithmetic: integers divide towards zero."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp):
        return _operations[type(node.op)](_computed(node.operand))
    if not isinstance(node, ast.BinOp):
        raise ValueError("not a constant")
    a, b = _computed(node.left), _computed(node.right)
    if not isinstance(node.op, (ast.Div, ast.Mod)):
        if isinstance(a, str) or isinstance(b, str) or type(node.op) not in _operations:
            raise ValueError("not a constant")
        return _operations[type(node.op)](a, b)
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if isinstance(node.op, ast.Div) else a - quotient * b
