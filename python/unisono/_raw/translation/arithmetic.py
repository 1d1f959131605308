"""Two numbers of C combined: the dtype, wrapping, truncating division, constants folded."""

from __future__ import annotations

import ast

import numpy as np

from .numbers import Number, common, is_complex, is_float, promoted
from .trees import at

_BINARY = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
    "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
COMPARE = {"==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, ">": ast.Gt, "<=": ast.LtE, ">=": ast.GtE}


def wrapped(value, dtype):
    """The integer as C has it in that dtype."""
    bits = np.dtype(dtype).itemsize * 8
    value &= 2**bits - 1
    return value - 2**bits if not dtype.startswith("u") and value >= 2 ** (bits - 1) else value


def folded(op, a, b, dtype):
    """What two constants make, or None where that is left to the compiled code."""
    if op in ("==", "!=", "<", ">", "<=", ">="):
        tests = {"==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}
        return tests[op]
    if dtype.startswith("float"):
        return None
    a, b = int(a), int(b)
    if op in "/%":
        if b == 0:
            return None
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return q if op == "/" else a - q * b
    if op in ("<<", ">>") and not 0 <= b < 64:
        return None
    makes = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "&": lambda: a & b, "|": lambda: a | b,
        "^": lambda: a ^ b, "<<": lambda: a << b, ">>": lambda: a >> b,
    }  # fmt: skip
    return makes[op]()


def combined(body, op, a, b, place):
    """Two Numbers combined as C does."""
    if op in ("<<", ">>"):
        dtype = promoted(a.dtype)
    else:
        dtype = common(a.dtype, b.dtype)
    if a.value is not None and b.value is not None:
        made = folded(op, a.value, b.value, dtype)
        if made is not None and not is_complex(dtype):
            return body.constant(made, "bool" if op in COMPARE else dtype, place)
    has_no_order = is_complex(dtype) and op in ("<", ">", "<=", ">=")
    if has_no_order or (
        not dtype.startswith(("int", "uint")) and op in ("&", "|", "^", "<<", ">>", "%")
    ):
        raise body.error(place, f"{op} needs integers; got {dtype}", "cast them, or use fmod")
    x, y = body.converted(a, dtype, place), body.converted(b, dtype, place)
    if op in COMPARE:
        return Number(at(ast.Compare(left=x, ops=[COMPARE[op]()], comparators=[y]), place), "bool")
    if op == "/" and (is_float(dtype) or is_complex(dtype)):
        return Number(at(ast.BinOp(left=x, op=ast.Div(), right=y), place), dtype)
    if op in "/%":
        if dtype.startswith("u"):
            made = ast.FloorDiv() if op == "/" else ast.Mod()
            return Number(at(ast.BinOp(left=x, op=made, right=y), place), dtype)
        rest = body.call_known(np.fmod, [x, y], place)
        if op == "%":
            return Number(rest, dtype)
        exact = ast.BinOp(left=x, op=ast.Sub(), right=rest)
        return Number(at(ast.BinOp(left=exact, op=ast.FloorDiv(), right=y), place), dtype)
    return Number(at(ast.BinOp(left=x, op=_BINARY[op](), right=y), place), dtype)
