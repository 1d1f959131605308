"""``printf`` and ``assert`` of C text, as Python's print and assert."""

from __future__ import annotations

import ast
import re

from ..._jit.desugar import Known
from .numbers import is_float
from .trees import at

_FIELD = re.compile(
    r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?:hh|h|ll|l|z|j|t|L)?(?P<kind>[a-zA-Z%])"
)
_INTEGERS = {"d": "d", "i": "d", "u": "d", "x": "x", "X": "X", "o": "o", "c": "c"}


def printf(body, place, args):
    """Writes a call of printf as one of print."""
    if not args or args[0][0] != "text":
        raise body.error(place, "printf begins with its format", 'write printf("...", values)')
    parts, used = [], 1
    text, end = ast.literal_eval(args[0][2]), 0
    for m in _FIELD.finditer(text):
        _literal(parts, text[end : m.start()])
        end = m.end()
        if m["kind"] == "%":
            _literal(parts, "%")
            continue
        if used >= len(args):
            raise body.error(place, f"'{m.group()}' has no value", "give one for each %")
        _value(body, parts, m, args[used])
        used += 1
    _literal(parts, text[end:])
    if "%" in _FIELD.sub("", text):
        raise body.error(place, "a % of the format is not known", "write %% for the character")
    if used < len(args):
        raise body.error(place, f"{len(args) - 1} values for {used - 1} fields", "leave some out")
    nothing = ast.keyword(arg="end", value=ast.Constant(value=""))
    name = Known(id="print", ctx=ast.Load())
    call = ast.Call(func=name, args=[ast.JoinedStr(values=parts)], keywords=[nothing])
    body.emit(ast.Expr(value=call), place)


def _literal(parts, text):
    if text:
        parts.append(ast.Constant(value=text))


def _value(body, parts, field, e):
    """Appends what a field of the format shows of an expression."""
    kind, flags = field["kind"], field["flags"]
    if kind == "s" and e[0] == "text":
        text = ast.literal_eval(e[2])
        text = text if field["precision"] is None else text[: int(field["precision"] or 0)]
        _literal(parts, f"{text:{'<' if '-' in flags else '>'}{field['width']}}")
        return
    v = body.number(e)
    if kind in _INTEGERS:
        if is_float(v.dtype):
            raise body.error(
                e[1], f"'{field.group()}' shows an integer; got {v.dtype}", "write %f or %g"
            )
        if kind in "xXou" and v.dtype.startswith("int"):
            bits = f"u{v.dtype}" if v.dtype in ("int32", "int64") else "uint32"
            node = body.converted(v, bits, e[1])
        else:
            node = body.converted(v, "int32", e[1]) if v.dtype == "bool" else v.node
        shown = _INTEGERS[kind]
    elif kind in "fFeEgG":
        node = body.converted(v, "float64", e[1])
        shown = kind
    else:
        raise body.error(
            e[1], f"'{field.group()}' is not translated", "use %d, %u, %x, %f, %e, %g or %c"
        )
    spec = "<" if "-" in flags else ""
    spec += "+" if "+" in flags else " " if " " in flags else ""
    spec += "#" if "#" in flags else ""
    spec += "0" if "0" in flags and "-" not in flags else ""
    spec += field["width"]
    if field["precision"] is not None and kind in "fFeEgG":
        spec += f".{field['precision'] or 0}"
    text = ast.JoinedStr(values=[ast.Constant(value=spec + shown)])
    parts.append(at(ast.FormattedValue(value=node, conversion=-1, format_spec=text), e[1]))


def asserted(body, place, args):
    """Writes an assert as Python's."""
    if len(args) != 1:
        raise body.error(place, f"assert takes a condition; got {len(args)}", "give one")
    line = body.source.lines[place.line - 1].strip()
    message = ast.Constant(value=f"assert in {body.source.name}:{place.line}: {line}")
    body.emit(ast.Assert(test=body.condition(args[0]), msg=message), place)
