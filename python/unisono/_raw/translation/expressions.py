"""Expressions of C text: ``expression_<kind>(body, place, ...)`` gives a Number, a Pointer or None."""

from __future__ import annotations

import ast

import numpy as np

from ..syntax.nodes import CType
from . import (
    arithmetic,
    calls,
    complex_words,
    declarations,
    layout,
    methods,
    records,
    reinterpreted,
    vectors,
    words,
)
from .arithmetic import COMPARE
from .numbers import (
    RANK,
    Aggregate,
    Lanes,
    Number,
    Pointer,
    Variable,
    common,
    is_complex,
    is_float,
    itemsize,
    promoted,
)  # fmt: skip
from .trees import INDICES, at


def expression_number(body, place, value, dtype, is_used=True):
    return body.constant(value, dtype, place)


def expression_name(body, place, name, args, is_used=True):
    if body.find(name) is None:
        if name in body.unit.constants:
            made, value = body.unit.constants[name]
            v = body.number(value)
            if v.value is not None:
                return body.constant(v.value, made.base, place)
            return Number(body.converted(v, made.base, place), made.base)
        if name in words.CONSTANTS:
            return body.constant(*words.CONSTANTS[name], place)
        if name in INDICES and name not in body.unit.variables:  # dim3 at = threadIdx;
            parts = tuple(body.query(INDICES[name], k, place) for k in range(3))
            return Aggregate(records.vector("uint32", 3, True), parts)
    v = body.variable(name, place)
    if v.kind == "number":
        node = body.read(v.name, place)
        if v.is_plain:
            return Number(body.call_known(getattr(np, v.dtype), [node], place), v.dtype, None, node)
        return Number(node, v.dtype)
    if v.kind == "record":
        return value_of(body, records.lanes(v), place)
    if v.kind == "array":
        p = Pointer(v.name, None, v.dtype, v.extents[1:], v.is_const, v.record)
        return p if v.extents else body.load(p, place)
    p = pointer_of(body, name, v, place)
    return body.load(p, place) if v.is_reference else p


def is_null(e):
    """Whether an expression is the pointer to nothing."""
    while e[0] == "cast" and getattr(e[2], "is_pointer", False):
        e = e[3]
    return (e[0] == "name" and e[2] in ("NULL", "nullptr")) or (e[0] == "number" and e[2] == 0)


def pointer_of(body, name, v, place):
    """The Pointer of a Variable that is one."""
    if v.made is not None:
        raise body.error(place, f"'{name}' points nowhere", "let it point into an array further up")
    offset = body.find(name + " offset")
    node = body.read(offset, place) if offset else None
    return Pointer(v.name, node, v.dtype, v.extents, v.is_const, v.record, stored=v.stored)


def expression_value(body, place, value, is_used=True):
    """What was evaluated already."""
    return value


def expression_comma(body, place, left, right, is_used=True):
    body.evaluate(left, is_used=False)
    return body.evaluate(right, is_used)


def bound_value(body, e):
    """What an expression of any type is, evaluated once."""
    if e[0] == "list":
        raise body.error(e[1], "a list of values without a type", "write the type in front of it")
    return body.evaluate(e)


def has_place(body, e):
    """Whether an expression names a place, and no value alone."""
    if e[0] == "name":
        return body.find(e[2]) is not None or e[2] in body.unit.variables
    if e[0] == "call" and e[2][0] == "name" and e[2][2] in body.unit.functions:
        return body.unit.functions[e[2][2]].form in ("place", "itself")
    if e[0] == "call" and e[2][0] == "member" and e[2][3] in body.unit.method_names:
        v = methods.owner(body, e[2][2])
        key = methods.found(v.record, e[2][3]) if v is not None else None
        return key is not None and body.unit.functions[key[0]].form in ("place", "itself")
    return e[0] in ("index", "member") or e[:1] + e[2:3] == ("unary", "*")


def expression_lambda(body, place, parameters, content, is_by_reference, is_used=True):
    raise body.error(
        place, "a function without a name in an expression", "give it a name: auto f = ..."
    )


def expression_index(body, place, array, index, is_used=True):
    v = methods.functor(body, array, "operator[]")
    if v is not None:
        return methods.call(body, place, v, "operator[]", [index], is_used)
    p = body.pointer(array)
    return body.load(indexed(body, p, index, place), place)


def indexed(body, p, index, place):
    i = body.number(index)
    if is_float(i.dtype):
        raise body.error(index[1], f"an index is an integer; got {i.dtype}", "cast it to int")
    return body.moved(p, i, place)


def place_of(body, e):
    """What is assigned to: the Variable of a number, a Pointer to one element, or Lanes."""
    if e[0] == "name":
        v = body.variable(e[2], e[1])
        if v.kind == "record":
            return records.lanes(v)
        if v.kind == "array" and not v.extents:
            return Pointer(v.name, None, v.dtype, (), v.is_const, v.record)
        return pointer_of(body, e[2], v, e[1]) if v.is_reference else v
    if e[0] == "call":
        return place_of_call(body, e)
    v = methods.functor(body, e[2], "operator[]") if e[0] == "index" else None
    if v is not None:
        return place_of_call(body, ("call", e[1], ("operator[]", v), [e[3]]))
    if e[0] == "index":
        return indexed(body, body.pointer(e[2]), e[3], e[1])
    if e[0] == "unary" and e[2] == "*":
        return body.pointer(e[3])
    if e[0] == "member":
        owner = place_of(body, e[2])
        if getattr(owner, "record", None) is not None and getattr(owner, "kind", "") != "pointer":
            return records.member_place(body, owner, e[3], e[1])
    raise body.error(e[1], "this cannot be assigned to", "assign to a variable or an element")


def place_of_call(body, e):
    """What a function refers to that returns a reference."""
    place, callee, args = e[1:]
    if callee[0] == "operator[]":
        function, args = methods.function_of(body, place, callee[1], *(callee[0], args))
    elif callee[0] == "member" and callee[3] in body.unit.method_names:
        v = methods.owner(body, callee[2])
        function, args = methods.function_of(body, place, v, callee[3], args)
    elif callee[0] == "name" and callee[2] in body.unit.functions:
        function = body.unit.functions[callee[2]]
        if callee[2] in body.unit.overloads:
            values = [body.evaluate(a) for a in args]
            function = calls.overload(body.unit, callee[2], values) or function
    else:
        v = methods.functor(body, callee, "operator()")
        if v is None:
            raise body.error(
                place, "this cannot be assigned to", "assign to a variable or an element"
            )
        function, args = methods.function_of(body, place, v, "operator()", args)
    if function.form == "place":
        return methods.inlined(body, place, function, args)
    if function.form != "itself":
        raise body.error(place, "this cannot be assigned to", "assign to a variable or an element")
    methods.applied(body, place, function, args, False)
    return calls.referred(body, function, args)


def kept(body, p, place):
    """The pointer with an offset that may be written twice."""
    if isinstance(p, Lanes):
        return Lanes(p.record, tuple(kept(body, t, place) for t in p.targets))
    if isinstance(p, Variable) or isinstance(p.offset, (ast.Constant, ast.Name, type(None))):
        return p
    name = body.fresh("at")
    body.assign(name, p.offset, place)
    return p._replace(offset=body.read(name, place))


def put(body, target, v, place):
    """Assign a value; gives what the target then is."""
    if isinstance(target, Pointer) and (target.is_const or target.extents or target.is_array):
        what = f"'{target.array}' is const" if target.is_const else "an array cannot be assigned to"
        raise body.error(place, what, "leave const out, and assign to elements")
    if target.record is not None:
        return records.stored(body, target, v, place)
    v = body.number(("value", place, v))
    node = body.converted(v, target.dtype, place)
    if isinstance(target, Pointer):
        body.store(target, node, place)
        return Number(body.element(target, place), target.dtype)
    if target.is_plain:
        raise AssertionError("the variable of a range is not assigned to")
    body.assign(target.name, node, place)
    return Number(body.read(target.name, place), target.dtype)


def value_of(body, target, place):
    """What is at a place."""
    if isinstance(target, Lanes):
        return records.read(body, target, place)
    if isinstance(target, Pointer) and target.is_array:
        return target._replace(is_array=False)
    if isinstance(target, Pointer) and target.record is not None:
        return body.load(target, place)
    if isinstance(target, Pointer):
        return Number(body.element(target, place), target.dtype)
    return Number(body.read(target.name, place), target.dtype)


def expression_assign(body, place, op, left, right, is_used=True):
    target = place_of(body, left)
    if isinstance(target, Variable) and target.kind != "number":
        return move_pointer(body, place, op, left, target, right)
    made = methods.left_to_operator(body, op, target, right, place, is_used)
    if made is not vectors.UNKNOWN:
        return made
    if op == "=" and right[0] == "list" and target.record is not None:  # p = {x, y}
        right = ("cast", place, CType(target.record.name, record=target.record), right)
    if op == "=":
        return put(body, target, computed(body, right), place)
    target = kept(body, target, place)
    more = computed(body, right)
    return put(
        body, target, combined(body, op[:-1], value_of(body, target, place), more, place), place
    )


def computed(body, e):
    """The value of an expression, which is a number or a record."""
    made = body.evaluate(e)
    return made if isinstance(made, Aggregate) else body.number(("value", e[1], made))


def combined(body, op, a, b, place):
    """Two values combined."""
    if isinstance(a, Aggregate) or isinstance(b, Aggregate):
        return vectors.combined(body, op, a, b, place)
    return arithmetic.combined(body, op, a, b, place)


def move_pointer(body, place, op, left, target, right):
    name = left[2] + " offset"
    offset = body.find(name)
    if offset is None or op not in ("=", "+=", "-="):
        raise body.error(
            place,
            f"'{left[2]}' is not a pointer that can be moved",
            "declare a pointer of the kernel",
        )
    if op == "=" and target.made is not None:
        if is_null(right):
            return None
        p = retyped(body, body.pointer(right), target.made, place)
        scope = next(s for s in reversed(body.scopes) if left[2] in s)
        scope[left[2]] = declarations.pointer_to(p, target.made)
    elif op == "=":
        p = body.pointer(right)
        if p.array != target.name or p.stored != target.stored:
            raise body.error(
                place,
                f"'{left[2]}' would point into another array",
                "use a pointer for each array",
            )
    else:
        p = body.moved(pointer_of(body, left[2], target, place), body.number(right), place, op[0])
    body.assign(offset, body.offset(p, place), place)
    return p._replace(offset=body.read(offset, place))


def expression_step(body, place, op, operand, is_before, is_used=True):
    one = ("number", place, 1, "int32")
    if is_before or not is_used:
        return expression_assign(body, place, op + "=", operand, one)
    target = place_of(body, operand)
    if isinstance(target, Variable) and target.kind != "number":
        p = body.pointer(operand)
        name = body.fresh("before")
        body.assign(name, body.offset(p, place), place)
        move_pointer(body, place, op + "=", operand, target, one)
        return p._replace(offset=body.read(name, place))
    target = kept(body, target, place)
    before = value_of(body, target, place)
    if isinstance(before, Number):
        name = body.fresh("before")
        body.assign(name, before.node, place)
        before = Number(body.read(name, place), target.dtype)
    put(body, target, combined(body, op, before, body.constant(1, "int32", place), place), place)
    return before


def expression_unary(body, place, op, operand, is_used=True):
    if op == "*":
        return body.load(body.pointer(operand), place)
    if op == "&":
        target = place_of(body, operand)
        if not isinstance(target, Pointer):
            raise body.error(
                place, "this has no address", "take that of a variable, a member or an element"
            )
        return target
    v = computed(body, operand)
    if isinstance(v, Aggregate):
        return vectors.unary(body, op, v, place)
    if op == "!":
        return Number(at(ast.UnaryOp(op=ast.Not(), operand=body.truth(v, place)), place), "bool")
    dtype = promoted(v.dtype)
    if v.value is not None and op in "+-":
        return body.constant(-v.value if op == "-" else v.value, dtype, place)
    node = body.converted(v, dtype, place)
    if op == "+":
        return Number(node, dtype)
    if op == "~" and (is_float(dtype) or is_complex(dtype)):
        raise body.error(place, "~ needs an integer", "cast it")
    made = ast.USub() if op == "-" else ast.Invert()
    return Number(at(ast.UnaryOp(op=made, operand=node), place), dtype)


def expression_binary(body, place, op, left, right, is_used=True):
    if op in ("&&", "||"):
        return logical(body, place, op, left, right)
    whole = words.global_index(op, left, right)
    if whole is not None:
        return body.query("global_id", whole, place)
    a, b = body.evaluate(left), body.evaluate(right)
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        if op in ("==", "!=") and (is_null(left) or is_null(right)):
            return body.constant(op == "!=", "bool", place)  # what a kernel is given is memory
        return pointer_binary(body, place, op, a, b)
    if a is None or b is None:
        raise body.error(place, f"{op} needs two numbers; got nothing", "give values")
    return combined(body, op, a, b, place)


def pointer_binary(body, place, op, a, b):
    if isinstance(a, Pointer) and isinstance(b, Number) and op in "+-":
        return body.moved(a, b, place, op)
    if isinstance(b, Pointer) and isinstance(a, Number) and op == "+":
        return body.moved(b, a, place)
    both = isinstance(a, Pointer) and isinstance(b, Pointer) and a.array == b.array
    if both and (op == "-" or op in COMPARE):
        x, y = body.offset(a, place), body.offset(b, place)
        if (a.record and a.record.size) != (b.record and b.record.size):
            raise body.error(place, f"{op} of pointers to different types", "convert one of them")
        if op == "-":
            made = ast.BinOp(left=body.wide(x, place), op=ast.Sub(), right=body.wide(y, place))
            if a.record:  # offsets count the numbers of a struct
                numbers = ast.Constant(value=a.record.size // a.record.unit)
                made = ast.BinOp(left=made, op=ast.FloorDiv(), right=numbers)
            return Number(body.call_known(np.int64, [at(made, place)], place), "int64")
        made = ast.Compare(left=x, ops=[COMPARE[op]()], comparators=[y])
        return Number(at(made, place), "bool")
    raise body.error(place, f"{op} of pointers into different arrays", "compare offsets")


def apart(body, e):
    """(condition of an expression, the statements that it needs before)."""
    before, body.out = body.out, []
    made = body.condition(e)
    pre, body.out = body.out, before
    return made, pre


def logical(body, place, op, left, right):
    first = body.evaluate(left)
    if isinstance(first, Aggregate):
        return vectors.combined(body, op, first, body.evaluate(right), place)
    a = body.condition(("value", place, first))
    b, pre = apart(body, right)
    if not pre:
        made = ast.BoolOp(op=ast.And() if op == "&&" else ast.Or(), values=[a, b])
        return Number(at(made, place), "bool")
    kept = body.fresh("test")
    body.assign(kept, a, place)
    test = body.read(kept, place)
    if op == "||":
        test = ast.UnaryOp(op=ast.Not(), operand=test)
    target = ast.Name(id=kept, ctx=ast.Store())
    content = [*pre, at(ast.Assign(targets=[target], value=b), place)]
    body.emit(ast.If(test=test, body=content, orelse=[]), place)
    return Number(body.read(kept, place), "bool")


def expression_choose(body, place, test, yes, no, is_used=True):
    tested = body.evaluate(test)
    if isinstance(tested, Aggregate):
        return vectors.chosen(body, tested, computed(body, yes), computed(body, no), place)
    condition = body.condition(("value", test[1], tested))
    before, body.out = body.out, []
    a = body.evaluate(yes)
    pre_a, body.out = body.out, []
    b = body.evaluate(no)
    pre_b, body.out = body.out, before
    if isinstance(a, Aggregate) or isinstance(b, Aggregate):
        return choose_record(body, place, condition, (a, pre_a), (b, pre_b))
    a, b = body.number(("value", yes[1], a)), body.number(("value", no[1], b))
    dtype = "bool" if a.dtype == b.dtype == "bool" else common(a.dtype, b.dtype)
    x, y = body.converted(a, dtype, place), body.converted(b, dtype, place)
    if not pre_a and not pre_b:
        return Number(at(ast.IfExp(test=condition, body=x, orelse=y), place), dtype)
    kept = body.new_name(body.fresh("chosen"))
    put = lambda v: at(  # noqa: E731
        ast.Assign(targets=[ast.Name(id=kept, ctx=ast.Store())], value=v), place
    )
    body.emit(ast.If(test=condition, body=[*pre_a, put(x)], orelse=[*pre_b, put(y)]), place)
    return Number(body.read(kept, place), dtype)


def choose_record(body, place, condition, yes, no):
    """One of two records, by a condition; each is its value and the statements before it."""
    record = next(v.record for v, _ in (yes, no) if isinstance(v, Aggregate))
    kept = records.variable(body, body.fresh("chosen"), record)
    branches = []
    for value, pre in (yes, no):
        before, body.out = body.out, list(pre)
        put(body, records.lanes(kept), value, place)
        made, body.out = body.out, before
        branches.append(made)
    body.emit(ast.If(test=condition, body=branches[0], orelse=branches[1]), place)
    return value_of(body, records.lanes(kept), place)


def expression_vector(body, place, made, items, is_used=True):
    return vectors.literal(body, made.record, [computed(body, e) for e in items], place)


def retyped(body, p, made, place):
    """The pointer as one to another type over numbers of the same dtype."""
    to = made.record
    dtypes = p.record.dtypes if p.record else (p.dtype,)
    wanted = to.dtypes if to else (made.base,)
    if made.base == "void" or (to is p.record and made.base == p.dtype) or (to and to is p.record):
        return p
    if len(dtypes) != 1 or dtypes != wanted:
        cast = reinterpreted.cast(p, made.base) if to is None and made.base[0] in "fiu" else None
        is_narrow = cast is not None and 0 < itemsize(made.base) < itemsize(
            cast.stored or made.base
        )
        if is_narrow and not (made.is_const or p.is_const or p.array in body.private):
            raise body.error(
                place, f"a pointer to {p.dtype} becomes one to {made.base}, which is narrower",
                "point to const: what is written beside it at the same time would be lost; write whole numbers of the array",
            )  # fmt: skip
        if cast is not None:
            return cast
        raise body.error(
            place, f"a pointer to {p.record or p.dtype} becomes one to {made.base}",
            "a pointer cannot go to numbers that are wider than those of the array",
        )  # fmt: skip
    return p._replace(record=to, dtype=wanted[0], extents=())


def expression_cast(body, place, made, operand, is_used=True):
    if made.record and not made.is_pointer:
        if operand[0] == "list" and methods.makes(made.record):
            return methods.made(body, made.record, operand[2], place)
        if operand[0] == "list":
            return records.listed(body, made.record, operand, place)
        return records.fitting(body, computed(body, operand), made.record, place)
    if made.is_pointer:
        return retyped(body, body.pointer(operand), made, place)
    if made.base == "void":
        body.evaluate(operand, is_used=False)
        return None
    offset = layout.offset_of(body, operand)
    if offset is not None:
        return body.constant(offset, made.base, place)
    v = body.number(operand)
    if v.value is not None:
        value = v.value if is_float(made.base) or is_complex(made.base) else int(v.value)
        return body.constant(value, made.base, place)
    plain = v.plain if made.base in ("int32", "int64") and v.dtype in RANK[:3] else None
    return Number(body.converted(v, made.base, place), made.base, None, plain)


def expression_complex(body, place, dtype, real, imag, is_used=True):
    return complex_words.made(body, dtype, body.number(real), body.number(imag), place)


def expression_sizeof(body, place, what, is_used=True):
    if not isinstance(what, CType):
        found = layout.member(body, what)
        what = found[0] if found else type_of(body.evaluate(what))
    return body.constant(layout.bytes_of(what), "uint64", place)


def type_of(v):
    """The CType of a value."""
    if isinstance(v, Aggregate):
        return CType(v.record.name, record=v.record)
    if isinstance(v, Pointer):
        return CType(v.record.name if v.record else v.dtype, True, record=v.record)
    return CType(v.dtype)


def expression_text(body, place, text, is_used=True):
    raise body.error(place, "text is not translated", "use numbers")


def expression_list(body, place, items, is_used=True):
    raise body.error(place, "a list in an expression", "write an array's initial values so")
