"""C++ in expressions: member functions, constructors, operators of structs, references, and functions without a name.

A member function takes its struct as its first argument. What returns a reference to a place, and a function without a
name, is written where it is called, with its parameters bound to what was given.
"""

from __future__ import annotations

from typing import NamedTuple

from ..syntax.nodes import CType
from . import records, vectors
from .numbers import Aggregate, Lanes, Number, Pointer, Variable
from .trees import mentions

DEEPEST = 32


class Closure(NamedTuple):
    """A function without a name: its parameters, its body, and the scopes around it."""

    parameters: list
    body: tuple
    scopes: list
    kind: str = "closure"
    record: object = None


# ---- finding
def found(record, name):
    """(the function's name in the text, the members through which bases are reached), or None."""
    if name in record.methods:
        return record.methods[name], []
    for member, m in record.members.items():
        inner = found(m.type.record, name) if member.startswith("<") and m.type.record else None
        if inner is not None:
            return inner[0], [member, *inner[1]]
    return None


def owner(body, e):
    """The place or the value of a struct that an expression is, or None."""
    from . import expressions

    if e[0] == "value":
        return e[2] if getattr(e[2], "record", None) is not None else None
    is_call = e[0] == "call"
    is_place = e[0] in ("name", "index", "member") or e[:1] + e[2:3] == ("unary", "*")
    if e[0] == "name" and body.find(e[2]) is None and e[2] not in body.unit.variables:
        return None
    if is_call or not is_place:
        v = body.evaluate(e)
        return v if isinstance(v, Aggregate) else None
    v = expressions.place_of(body, e)
    is_pointer = isinstance(v, Variable) and v.kind != "record"
    is_pointer = is_pointer or (isinstance(v, Pointer) and (v.is_array or v.extents))
    return None if is_pointer or getattr(v, "record", None) is None else v


def functor(body, e, name):
    """The struct whose operator of that name an expression may call, or None."""
    if name not in body.unit.method_names or e[0] not in (
        "name",
        "index",
        "member",
        "cast",
        "unary",
    ):
        return None
    v = body.find(e[2]) if e[0] == "name" else None
    if e[0] == "name" and (v is None or v.record is None or (v.kind != "record" and v.extents)):
        return None
    v = owner(body, e)
    return v if v is not None and found(v.record, name) else None


# ---- calls
def call(body, place, v, name, args, is_used=True):
    """A call of a member function of a place or value of a struct."""
    return applied(body, place, *function_of(body, place, v, name, args), is_used)


def function_of(body, place, v, name, args):
    """(the Function, its arguments, the struct first) of a call of a member function."""
    from . import calls, expressions

    key, path = found(v.record, name)
    for member in path:
        is_value = isinstance(v, Aggregate)
        v = (records.picked if is_value else records.member_place)(body, v, member, place)
    values = [("value", place, expressions.bound_value(body, a)) for a in args]
    function = body.unit.functions[key]
    own = () if function.form == "static" else (v,)
    if key in body.unit.overloads:
        function = calls.overload(body.unit, key, [*own, *(a[2] for a in values)]) or function
    return function, [*(("value", place, o) for o in own), *values]


def applied(body, place, function, args, is_used=True):
    """What a function gives, whatever its form is."""
    from . import calls, expressions

    if function.form == "place":
        target = inlined(body, place, function, args)
        return expressions.value_of(body, target, place)
    made = calls.call_chosen(body, body.t, place, function, args)
    if function.form == "itself" and is_used:
        return expressions.value_of(body, calls.referred(body, function, args), place)
    return made


def inlined(body, place, function, args):
    """The place that a function returns: its expression, with its parameters bound."""
    from . import calls, expressions

    args = calls.completed(function, args)
    scope = bound(body, place, f"'{function.name}'", function.parameters, args)
    return within(body, place, [scope], lambda: expressions.place_of(body, function.body[2][0][2]))


def bound(body, place, what, parameters, args):
    """A scope in which parameters stand for arguments."""
    if len(args) != len(parameters):
        raise body.error(
            place, f"{what} takes {len(parameters)} arguments; got {len(args)}", "give as many"
        )
    scope = {}
    for (kind, name, _), e in zip(parameters, args, strict=True):
        bind(body, scope, kind, name, e, place)
    return scope


def within(body, place, scopes, write):
    """What `write` gives with other names around it."""
    if body.depth >= DEEPEST:
        raise body.error(
            place, "functions that are written into each other without end", "write a loop"
        )
    before, body.scopes = body.scopes, scopes
    body.depth += 1
    made = write()
    body.depth -= 1
    body.scopes = before
    return made


def bind(body, scope, made, name, e, place):
    """Let a name of the scope stand for a place, if it is a reference, or for a value."""
    from . import expressions

    if made.is_reference or name == "this":
        target = e[2] if e[0] == "value" else expressions.place_of(body, e)
        refer(body, scope, name, target, place)
        return
    if made.is_pointer:
        refer(body, scope, name, body.pointer(e), place, False)
        return
    if made.record:
        v = records.fitting(body, body.evaluate(e), made.record, place)
    else:
        v = body.number(e)
        v = Number(body.converted(v, made.base, place), made.base)
    refer(body, scope, name, v, place)


def refer(body, scope, name, target, place, is_reference=True):
    """Let a name of the scope stand for a place or a value."""
    from . import expressions

    if isinstance(target, Lanes) and all(isinstance(t, Variable) for t in target.targets):
        names = tuple(t.name for t in target.targets)
        scope[name] = Variable("record", names, target.record.name, record=target.record)
    elif isinstance(target, Variable):
        scope[name] = target
    elif isinstance(target, Pointer):
        if target.is_array:
            is_reference = False
            target = target._replace(is_array=False)
        if target.offset is not None:
            offset = body.new_name(f"{name}_at")
            body.assign(offset, target.offset, place)
            scope[name + " offset"] = offset
        scope[name] = Variable(
            "pointer", target.array, target.dtype, target.extents, target.is_const, record=target.record,
            is_reference=is_reference, stored=target.stored,
        )  # fmt: skip
    elif isinstance(target, Number):
        py = body.new_name(name)
        body.assign(py, target.node, place)
        scope[name] = Variable("number", py, target.dtype)
    elif isinstance(target, Aggregate):
        kept = records.variable(body, name, target.record)
        expressions.put(body, records.lanes(kept), target, place)
        scope[name] = kept
    else:
        raise body.error(place, f"'{name}' refers to nothing that has a place", "name an element")


def closure(body, parameters, content, is_by_reference, place):
    """The Closure of a function without a name; numbers that it takes by value are copied."""
    scopes = list(body.scopes)
    if not is_by_reference:
        copies = {}
        for name in mentions(content, set()) & body.assigned:
            v = body.find(name)
            if v is not None and v.kind == "number":
                refer(body, copies, name, Number(body.read(v.name, place), v.dtype), place)
        scopes.append(copies)
    return Closure(parameters, content, scopes)


def call_closure(body, place, made, args):
    """A call of a function without a name: its statements, and the value of the last one."""
    from ..syntax import definitions

    scope = bound(body, place, "the function", made.parameters, args)
    statements = made.body[2]
    last = statements[-1] if statements and statements[-1][0] == "return" else None
    if len(definitions.returns(made.body, [])) > (last is not None):
        raise body.error(
            place, "a function without a name that returns early", "make it a __device__ function"
        )

    def write():
        for s in statements[: len(statements) - (last is not None)]:
            body.statement(s)
        if last is None or last[2] is None:
            return None
        v = body.evaluate(last[2])
        if isinstance(v, Number) and v.value is None:
            name = body.fresh("closure")
            body.assign(name, v.node, place)
            v = Number(body.read(name, place), v.dtype)
        return v

    return within(body, place, [*made.scopes, scope], write)


# ---- constructors
def makes(record):
    """Whether values of the struct are made by a function."""
    return record is not None and "" in record.methods


def made(body, record, items, place):
    """The value that a constructor gives, or the copy of a value."""
    from . import calls, expressions

    key = record.methods[""]
    known = body.unit.overloads.get(key, [body.unit.functions[key]])
    if items and not any(f.parameters for f in known):
        rest = [] if any(e[0] == "named" for e in items) else list(record.members)[len(items) :]
        given = [record.defaults.get(n, ("list", place, [])) for n in rest]
        return records.listed(body, record, ("list", place, [*items, *given]), place)
    values = [expressions.bound_value(body, e) for e in items]
    takes = [f for f in known if calls.takes(f, len(values))]
    is_copy = len(values) == 1 and getattr(values[0], "record", None) is record
    if is_copy and not any(f.parameters[0][0].record is record for f in takes if f.parameters):
        return records.fitting(body, values[0], record, place)
    if not takes:
        counts = " or ".join(str(n) for n in sorted({len(f.parameters) for f in known}))
        raise body.error(
            place, f"'{record.name}' is made of {counts} values; got {len(values)}", "give as many"
        )
    function = calls.overload(body.unit, key, values) or takes[0]
    return calls.call_chosen(body, body.t, place, function, [("value", place, v) for v in values])


def can_be_bare(body, record):
    """Whether a constructor makes a value of nothing."""
    from . import calls

    key = record.methods.get("")
    known = body.unit.overloads.get(key, [body.unit.functions[key]]) if key else ()
    return any(calls.takes(f, 0) for f in known)


def declare_reference(body, made, name, value, here):
    """``T &name = place``."""
    from . import expressions

    if value is None:
        raise body.error(here, f"'{name}' refers to nothing", "give it a variable or an element")
    target = None
    if expressions.has_place(body, value):
        target = expressions.place_of(body, value)
        if isinstance(target, Variable) and target.kind in ("array", "pointer"):
            target = body.evaluate(value)
        if isinstance(target, Pointer) and target.record is None and target.dtype != made.base:
            target = None if made.is_const and made.base != "auto" else target
    if target is None and not (made.is_const or made.base == "auto"):
        raise body.error(here, f"'{name}' refers to a value without a place", "declare it const")
    if target is None:
        value = ("value", here, expressions.bound_value(body, value))
        return declare_auto(body, made, name, value, here)
    if isinstance(target, Pointer) and made.is_const:
        target = target._replace(is_const=True)
    refer(body, body.scopes[-1], name, target, here)
    return None


def declare_auto(body, made, name, value, here):
    """``auto name = value``: the type is the value's."""
    from . import declarations, expressions

    if value is None or value[0] == "list":
        raise body.error(here, f"'{name}' is auto, and has no value", "write its type, or a value")
    if value[0] == "lambda":
        body.scopes[-1][name] = closure(body, value[2], value[3], value[4], here)
        return
    v = expressions.bound_value(body, value)
    kind = expressions.type_of(v)
    if made.base != "auto":
        kind = made._replace(is_reference=False)
    kind = kind._replace(is_const=made.is_const, is_reference=False)
    declarations.declare(body, kind, name, ("value", here, v), here, False)


def left_to_operator(body, op, target, right, place, is_used):
    """What the text's own ``operator+=`` and the like gives, or `vectors.UNKNOWN` where there is none."""
    from . import calls, expressions

    name = f"operator{op}"
    record = getattr(target, "record", None)
    if record is None or name not in body.unit.mutating:
        return vectors.UNKNOWN
    if found(record, name):
        return call(body, place, target, name, [right], is_used)
    if name not in body.unit.functions:
        return vectors.UNKNOWN
    values = [target, expressions.bound_value(body, right)]
    function = calls.overload(body.unit, name, values)
    if function is None:
        return vectors.UNKNOWN
    args = [("value", place, v) for v in values]
    return applied(body, place, function, args, is_used)


def by_reference(t, tree, found_names):
    """Adds names of variables that member functions and operators change, which need an address."""
    from .trees import root

    if isinstance(tree, tuple) and tree and tree[0] == "call" and tree[2][0] == "member":
        if tree[2][3] in t.unit.mutating:
            found_names.add(root(tree[2][2]))
    elif (
        isinstance(tree, tuple)
        and tree
        and tree[0] == "assign"
        and f"operator{tree[2]}" in t.unit.mutating
    ):
        found_names.add(root(tree[3]))
    elif isinstance(tree, tuple) and tree and tree[0] == "call" and "operator()" in t.unit.mutating:
        found_names.add(root(tree[2]))
    if isinstance(tree, (tuple, list)):
        for one in tree:
            by_reference(t, one, found_names)
    return found_names


def of_structs(tree, names):
    """Adds names of variables that a function declares as structs, or as auto."""
    if isinstance(tree, CType):
        return names
    if isinstance(tree, tuple) and tree and tree[0] == "declare":
        names.update(d[1] for d in tree[2] if d[0].record is not None or d[0].base == "auto")
    if isinstance(tree, (tuple, list)):
        for one in tree:
            of_structs(one, names)
    return names
