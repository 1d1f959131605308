"""Vectors of C text: arithmetic lane by lane, and the functions of OpenCL C and CUDA C that take or give them."""

from __future__ import annotations

import ast
import re

import numpy as np

from . import arithmetic, records
from .arithmetic import COMPARE
from .numbers import Aggregate, Number, Pointer, is_float, itemsize
from .trees import at

UNKNOWN = object()
_TYPE = "u?(?:char|short|int|long)|half|float|double"
_MADE = re.compile(r"make_((?:u?(?:char|short|int|long|longlong)|float|double)[1-4])")
_MOVED = re.compile(r"v(load|store)(2|3|4|8|16)")
_CONVERTED = re.compile(f"(convert_|as_)({_TYPE})(2|3|4|8|16)(\\w*)")
_RELATIONS = {
    "isequal", "isnotequal", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isordered",
    "isunordered", "isnan", "isinf", "isfinite", "isnormal", "signbit",
}  # fmt: skip
_GEOMETRY = {
    "dot", "length", "distance", "normalize", "cross", "fast_length", "fast_distance", "fast_normalize",
}  # fmt: skip
_INTEGER_ARGUMENTS = {"ldexp", "pown", "rootn"}


def combined(body, op, a, b, place):
    """Two values of which at least one is a vector, lane by lane; comparisons give -1 and 0."""
    record = a.record if isinstance(a, Aggregate) else b.record
    made = _by_operator(body, f"operator{op}", [a, b], place)
    if made is not UNKNOWN:
        return made
    if not record.lanes:
        raise body.error(place, f"{op} of '{record.name}'", "write it for the members")
    for v in (a, b):
        if isinstance(v, Aggregate) and (
            v.record.lanes != record.lanes or v.record.dtypes != record.dtypes
        ):
            raise body.error(
                place, f"{op} of '{a.record.name}' and '{b.record.name}'",
                f"convert one, as in convert_{record.name}(v)",
            )  # fmt: skip
    dtype = record.dtypes[0]
    a, b = (records.fitting(body, v, record, place) for v in (a, b))
    is_test = op in COMPARE or op in ("&&", "||")
    parts = []
    for x, y in zip(a.parts, b.parts, strict=True):
        if op in ("&&", "||"):
            kind = ast.And() if op == "&&" else ast.Or()
            values = [body.truth(x, place), body.truth(y, place)]
            one = Number(at(ast.BoolOp(op=kind, values=values), place), "bool")
        else:
            one = arithmetic.combined(body, op, x, y, place)
        parts.append(_mask(body, one, dtype, place) if is_test else one)
    return of_parts(body, parts, _mask_type(dtype) if is_test else dtype, place, record)


def _by_operator(body, name, values, place):
    """What the text's own operator gives, or UNKNOWN where it has none for these types."""
    from . import calls, methods

    first = values[0]
    if isinstance(first, Aggregate) and methods.found(first.record, name):
        rest = [("value", place, v) for v in values[1:]]
        return methods.call(body, place, first, name, rest)
    if name not in body.unit.functions or calls.overload(body.unit, name, values) is None:
        return UNKNOWN
    args = [("value", place, v) for v in values]
    return calls.call_function(body, body.t, place, name, None, args)


def unary(body, op, v, place):
    """-v, +v, ~v and !v."""
    made = _by_operator(body, f"operator{op}", [v], place)
    if made is not UNKNOWN:
        return made
    if not v.record.lanes:
        raise body.error(place, f"{op} of '{v.record.name}'", "write it for the members")
    dtype = v.record.dtypes[0]
    from .expressions import expression_unary

    parts = [expression_unary(body, place, op, ("value", place, x)) for x in v.parts]
    if op == "!":
        parts = [_mask(body, x, dtype, place) for x in parts]
        return of_parts(body, parts, _mask_type(dtype), place, v.record)
    return of_parts(body, parts, dtype, place, v.record)


def of_parts(body, parts, dtype, place, like):
    """A vector of numbers, each converted."""
    is_cuda = like.size == 3 * itemsize(like.dtypes[0]) or like.lanes == 1
    record = like if dtype == like.dtypes[0] else records.vector(dtype, len(parts), is_cuda)
    made = tuple(records.as_dtype(body, v, dtype, place) for v in parts)
    return records.settled(body, Aggregate(record, made), place)


def _mask_type(dtype):
    return f"int{8 * itemsize(dtype)}"


def _mask(body, v, dtype, place):
    """-1 of a true lane, and 0."""
    kind = _mask_type(dtype)
    minus, zero = body.constant(-1, kind, place).node, body.constant(0, kind, place).node
    return Number(at(ast.IfExp(test=body.truth(v, place), body=minus, orelse=zero), place), kind)


def _sign(body, v, place):
    """Whether the highest bit of a lane is set, by which vectors decide."""
    if v.dtype == "bool":
        return v.node
    if v.dtype.startswith("u"):
        v = Number(body.converted(v, v.dtype[1:], place), v.dtype[1:])
    return arithmetic.combined(body, "<", v, body.constant(0, v.dtype, place), place).node


def chosen(body, test, yes, no, place):
    """``test ? yes : no`` lane by lane."""
    record = next((v.record for v in (yes, no) if isinstance(v, Aggregate)), None)
    if record is None:
        dtype = yes.dtype
        record = records.vector(dtype, test.record.lanes)
    yes, no = (records.fitting(body, v, record, place) for v in (yes, no))
    if record.lanes != test.record.lanes:
        raise body.error(
            place, f"'{test.record.name}' decides over '{record.name}'", "give as many lanes"
        )
    parts = []
    for t, x, y in zip(test.parts, yes.parts, no.parts, strict=True):
        parts.append(
            Number(
                at(ast.IfExp(test=_sign(body, t, place), body=x.node, orelse=y.node), place),
                x.dtype,
            )
        )
    return of_parts(body, parts, record.dtypes[0], place, record)


def literal(body, record, values, place):
    """``(float4)(a, b)`` of numbers and vectors: as many numbers as it has lanes, or one for all."""
    if not record.lanes:
        if len(values) == 1:
            return records.fitting(body, values[0], record, place)
        raise body.error(place, f"'{record.name}' of some values", "write a list in braces")
    parts = []
    for v in values:
        parts += v.parts if isinstance(v, Aggregate) else [v]
    if len(parts) == 1:
        parts *= record.lanes
    if len(parts) != record.lanes:
        raise body.error(
            place,
            f"'{record.name}' has {record.lanes} numbers; got {len(parts)}",
            "give as many, or one",
        )
    return of_parts(body, parts, record.dtypes[0], place, record)


# ---- functions
def call(body, place, name, args):
    """The value of a call that has to do with vectors, or UNKNOWN; then the arguments that were evaluated."""
    parts = _MADE.fullmatch(name)
    if parts and body.t.parser.is_cuda:
        record = records.vector_named(parts[1], True)
        return literal(body, record, [body.number(a) for a in args], place), args
    parts = _MOVED.fullmatch(name)
    if parts:
        return _moved(body, place, name, parts[1], int(parts[2]), args), args
    parts = _CONVERTED.fullmatch(name)
    if parts and len(args) == 1:
        return _converted(body, place, body.evaluate(args[0]), parts), args
    values = [body.evaluate(a) for a in args]
    args = [("value", place, v) if v is not None else a for v, a in zip(values, args, strict=True)]
    vectors = [v for v in values if isinstance(v, Aggregate)]
    is_geometry = name in _GEOMETRY and all(isinstance(v, (Aggregate, Number)) for v in values)
    if not vectors and not is_geometry:
        return UNKNOWN, args
    if any(not v.record.lanes for v in vectors):
        return UNKNOWN, args
    if is_geometry:
        return _geometry(body, place, name.removeprefix("fast_"), values), args
    if name in _WHOLE:
        wanted, function = _WHOLE[name]
        if len(values) != wanted:
            raise body.error(
                place, f"{name} takes {wanted} arguments; got {len(values)}", "give as many"
            )
        return function(body, place, *values), args
    return _by_lanes(body, place, name, values, vectors[0].record), args


def _by_lanes(body, place, name, values, record):
    from .calls import expression_call

    dtype = record.dtypes[0]
    parts = []
    for k in range(record.lanes):
        args = []
        for v in values:
            if isinstance(v, Aggregate):
                if v.record.lanes != record.lanes:
                    raise body.error(
                        place,
                        f"{name} of '{record.name}' and '{v.record.name}'",
                        "give as many lanes",
                    )
                v = v.parts[k]
            elif isinstance(v, Number) and name not in _INTEGER_ARGUMENTS:
                v = Number(body.converted(v, dtype, place), dtype)
            elif isinstance(v, Pointer) and v.record and v.record.lanes == record.lanes:
                v = records.leaf_place(body, v, k, place)
            args.append(("value", place, v))
        made = expression_call(body, place, ("name", place, name, None), args)
        parts.append(made)
    if any(not isinstance(v, Number) for v in parts):
        if all(v is None for v in parts):
            return None
        raise body.error(place, f"{name} takes no vectors", "call it for each lane")
    if name in _RELATIONS:
        parts = [_mask(body, v, dtype, place) for v in parts]
        return of_parts(body, parts, _mask_type(dtype), place, record)
    made = dtype
    if name in ("abs", "abs_diff") and dtype.startswith("int"):
        made = "u" + dtype
    if name == "ilogb":
        made = "int32"
    if name == "upsample":
        made = parts[0].dtype
    return of_parts(body, parts, made, place, record)


def _moved(body, place, name, kind, n, args):
    wanted = 2 if kind == "load" else 3
    if len(args) != wanted:
        raise body.error(place, f"{name} takes {wanted} arguments; got {len(args)}", "give as many")
    value = body.evaluate(args[0]) if kind == "store" else None
    index, p = body.number(args[-2]), body.pointer(args[-1])
    dtype = p.record.dtypes[0] if p.record else p.dtype
    scaled_by = arithmetic.combined(body, "*", index, body.constant(n, "int32", place), place)
    p = body.moved(p._replace(record=None, extents=(), dtype=dtype), scaled_by, place)
    record = records.vector(dtype, n, True if n == 3 else False)  # three lie as three
    p = p._replace(record=record)
    to = records.vector(dtype, n)
    if kind == "load":
        return Aggregate(to, records.loaded(body, p, place).parts)
    from .expressions import put

    if not isinstance(value, Aggregate) or value.record.lanes != n:
        raise body.error(place, f"{name} stores a vector of {n}", "give one")
    put(body, p, value, place)
    return None


def _converted(body, place, v, parts):
    from .calls import expression_call

    word, kind, n, rest = parts.groups()
    dtype, n = records.vector_named(f"{kind}{n}", False).dtypes[0], int(n)
    to = records.vector(dtype, n)
    given = v.parts if isinstance(v, Aggregate) else (v,)
    same = len(given) == n or (word == "as_" and {len(given), n} == {3, 4})
    if word == "convert_" or (same and itemsize(given[0].dtype) == itemsize(dtype)):
        if not same:
            raise body.error(
                place, f"{word}{kind}{n} of {len(given)} numbers", "give a vector of as many lanes"
            )
        made = [
            expression_call(
                body, place, ("name", place, f"{word}{kind}{rest}", None), [("value", place, x)]
            )
            for x in given[:n]
        ]
        made += [body.constant(0, dtype, place)] * (n - len(made))
        return of_parts(body, made, dtype, place, to)
    return of_parts(body, _bits(body, given, dtype, n, place), dtype, place, to)


def _bits(body, given, dtype, n, place):
    """The bits of numbers as `n` numbers of another size, the lowest first."""
    size, to = itemsize(given[0].dtype), itemsize(dtype)
    if size * len(given) != to * n:
        raise body.error(
            place, f"{size * len(given)} bytes are read as {to * n}", "read as many as there are"
        )
    words = [viewed(body, v, f"uint{8 * size}", place) for v in given]
    made = []
    for k in range(n):
        if to < size:
            word, shift = words[k * to // size], 8 * (k * to % size)
            one = arithmetic.combined(
                body, ">>", word, body.constant(shift, word.dtype, place), place
            )
        else:
            kind = f"uint{8 * to}"
            one = body.constant(0, kind, place)
            for m in range(to // size):
                part = words[k * to // size + m]
                part = Number(body.converted(part, kind, place), kind)
                moved = body.constant(8 * size * m, kind, place)
                part = arithmetic.combined(body, "<<", part, moved, place)
                one = arithmetic.combined(body, "|", one, part, place)
        plain = f"uint{8 * to}"
        made.append(viewed(body, Number(body.converted(one, plain, place), plain), dtype, place))
    return made


def viewed(body, v, dtype, place):
    """The bits of a number as a number of another dtype of its size."""
    from .words import as_bits

    return v if v.dtype == dtype else as_bits(body, place, v, dtype)


def _sum(body, parts, place):
    total = parts[0]
    for v in parts[1:]:
        total = arithmetic.combined(body, "+", total, v, place)
    return total


def _products(body, a, b, place):
    return [
        arithmetic.combined(body, "*", x, y, place) for x, y in zip(a.parts, b.parts, strict=True)
    ]


def _root(body, v, place):
    return Number(body.call_known(np.sqrt, [v.node], place), v.dtype)


def _geometry(body, place, name, values):
    """OpenCL's geometric functions, of vectors and of numbers, which are vectors of one lane."""
    wanted = 1 if name in ("length", "normalize") else 2
    if len(values) != wanted:
        raise body.error(
            place, f"{name} takes {wanted} arguments; got {len(values)}", "give as many"
        )
    is_number = all(isinstance(v, Number) for v in values)
    if is_number:
        dtype = values[0].dtype if is_float(values[0].dtype) else "float32"
        record = records.vector(dtype, 1, True)
    else:
        record = next(v.record for v in values if isinstance(v, Aggregate))
    values = [records.fitting(body, v, record, place) for v in values]
    a, b = values[0], values[-1]
    if not is_float(record.dtypes[0]):
        raise body.error(place, f"{name} of '{record.name}'", "convert it to float")
    if name == "dot":
        return _sum(body, _products(body, a, b, place), place)
    if name == "cross":
        return _cross(body, a, b, place)
    if name == "distance":
        a = combined(body, "-", a, b, place)
    size = _root(body, _sum(body, _products(body, a, a, place), place), place)
    if name != "normalize":
        return size
    one = records.settled(body, Aggregate(records.vector(size.dtype, 1, True), (size,)), place)
    size = one.parts[0]
    is_zero = arithmetic.combined(body, "==", size, body.constant(0, size.dtype, place), place)
    unit = body.constant(1, size.dtype, place)
    divisor = Number(
        at(ast.IfExp(test=is_zero.node, body=unit.node, orelse=size.node), place), size.dtype
    )
    made = [arithmetic.combined(body, "/", v, divisor, place) for v in a.parts]
    return made[0] if is_number else of_parts(body, made, size.dtype, place, record)


def _cross(body, a, b, place):
    if a.record.lanes not in (3, 4):
        raise body.error(place, f"cross of '{a.record.name}'", "give vectors of 3 or 4")
    x, y, parts = a.parts, b.parts, []
    for j, k in ((1, 2), (2, 0), (0, 1)):
        first = arithmetic.combined(body, "*", x[j], y[k], place)
        second = arithmetic.combined(body, "*", x[k], y[j], place)
        parts.append(arithmetic.combined(body, "-", first, second, place))
    if a.record.lanes == 4:
        parts.append(body.constant(0, x[0].dtype, place))
    return of_parts(body, parts, x[0].dtype, place, a.record)


def _tested(kind):
    def test(body, place, v):
        made = at(ast.BoolOp(op=kind(), values=[_sign(body, x, place) for x in v.parts]), place)
        return Number(body.converted(Number(made, "bool"), "int32", place), "int32")

    return test


def _select(body, place, a, b, c):
    return chosen(body, c, b, a, place)


def _bitselect(body, place, a, b, c):
    dtype = a.record.dtypes[0]
    plain, parts = f"uint{8 * itemsize(dtype)}", []
    for x, y, m in zip(a.parts, b.parts, c.parts, strict=True):
        x, y, m = (viewed(body, v, plain, place) for v in (x, y, m))
        inverse = Number(at(ast.UnaryOp(op=ast.Invert(), operand=m.node), place), plain)
        kept = arithmetic.combined(body, "&", x, inverse, place)
        taken = arithmetic.combined(body, "&", y, m, place)
        one = arithmetic.combined(body, "|", kept, taken, place)
        one = Number(body.converted(one, plain, place), plain)
        parts.append(viewed(body, one, dtype, place))
    return of_parts(body, parts, dtype, place, a.record)


def _shuffled(body, place, parts, mask):
    made = []
    for m in mask.parts:
        low = arithmetic.combined(
            body, "&", m, body.constant(len(parts) - 1, m.dtype, place), place
        )
        one = parts[-1].node
        for k in range(len(parts) - 2, -1, -1):
            test = arithmetic.combined(body, "==", low, body.constant(k, low.dtype, place), place)
            one = at(ast.IfExp(test=test.node, body=parts[k].node, orelse=one), place)
        made.append(Number(one, parts[0].dtype))
    return of_parts(body, made, parts[0].dtype, place, records.vector(parts[0].dtype, len(made)))


def _shuffle(body, place, v, mask):
    return _shuffled(body, place, v.parts, mask)


def _shuffle2(body, place, v, w, mask):
    return _shuffled(body, place, (*v.parts, *w.parts), mask)


_WHOLE = {
    "any": (1, _tested(ast.Or)), "all": (1, _tested(ast.And)), "select": (3, _select),
    "bitselect": (3, _bitselect), "shuffle": (2, _shuffle), "shuffle2": (3, _shuffle2),
}  # fmt: skip
