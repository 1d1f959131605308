"""Python's syntax tree of a function of C text, with the places of the text.

Numbers are converted where C converts them, so that each operation has C's type and wraps as C's does. An array or a
pointer is a one-dimensional array and an offset in elements. What C writes inside of an expression (assignments, ``i++``,
atomics) goes before the statement. Shared and local arrays are made at the top of the kernel.

A `Body` is the context of one function: its names and what was written so far. `statements`, `declarations`, `expressions`,
`calls` and `arithmetic` are functions that take it.
"""

from __future__ import annotations

import ast
import keyword
from typing import NamedTuple

import numpy as np

from ... import _jit
from ..._jit.desugar import Known
from . import (
    arithmetic,
    calls,
    declarations,
    expressions,
    groups,
    methods,
    records,
    reinterpreted,
    statements,
    warps,
    words,
)
from .numbers import Aggregate, Number, Pointer, Variable, is_complex, is_float
from .trees import addressed, assigned, at, known_value


class Made(NamedTuple):
    """A function in Python's terms."""

    definition: ast.FunctionDef
    names: list  # all local names
    scope: dict
    hidden: list  # parameters behind those of C


class Translation:
    """The functions of one kernel; device functions are made as they are called."""

    def __init__(self, parser, source, shared_bytes=0):
        self.parser, self.unit, self.source = parser, parser.unit, source
        self.shared_bytes, self.made = shared_bytes, {}
        self.warp_functions = {}  # by name: whether all work-items of a group meet in them

    def kernel(self, function):
        """The Made of a kernel."""
        return Body(self, function).run()

    def device_function(self, function, key, place):
        """(compiled function, its hidden parameters) of a ``__device__`` function."""
        found = self.made.get(key)
        if found is None:
            if function.body is None:
                raise self.source.error(
                    place, f"'{function.name}' is declared and not defined", "add its text"
                )
            found = self.made[key] = DeviceFunction(function, self.source)
            try:
                self._translate(found, key)
            except BaseException:
                del self.made[key]
                raise
        elif not found.is_whole:
            found.is_called_within = True
        return found.compiled, found.hidden

    def _translate(self, found, key):
        """Again, where the function calls itself, until its hidden parameters are those that the calls passed."""
        known = set(self.made)
        while True:
            made = Body(self, found.function).run()
            if not found.is_called_within or made.hidden == found.hidden:
                break
            found.hidden = made.hidden
            for other in self.made.keys() - known:  # what was made on the way calls it as it was
                del self.made[other]
        found.become(made)


class DeviceFunction:
    """A ``__device__`` function in Python's terms, which others may call while it is translated."""

    def __init__(self, function, source):
        self.function, self.source = function, source
        self.hidden, self.is_whole, self.is_called_within = [], False, False
        empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        nothing = ast.FunctionDef(name=calls.plain_name(function.name), args=empty, body=[])
        self._stub = stub(Made(nothing, [], {}, []), function, source)
        self.compiled = _jit.JitFunction(
            self._stub, False, None, {}, flatten=lambda: self._flatten()
        )

    def become(self, made):
        """The stub takes the names of what was made."""
        result = self.function.result
        is_number = not (result.record or result.is_pointer or result.base == "void")
        if self.is_called_within and is_number:  # known before the first return
            self._stub.__globals__["np"] = np
            text = f"np.{words.NUMPY.get(result.base, result.base)}"
            made.definition.returns = at(ast.Constant(value=text), self.function.place)
        self._stub.__code__ = stub(made, self.function, self.source).__code__
        options = {"cdivision": False, "counts_from_end": False}
        self._flatten = flattener(self._stub, made, self.function, self.source, False, options)
        self.hidden, self.is_whole = made.hidden, True


def stub(made, function, source):
    """A Python function with the names of the translated one; it stands for it and is never run."""
    parameters = [a.arg for a in made.definition.args.args]
    others = [n for n in made.names if n not in parameters]
    text = f"def {made.definition.name}({', '.join(parameters)}):\n"
    text += "".join(f"    {n} = 0\n" for n in others) + "    pass\n"
    scope = {"__name__": "unisono.raw", **made.scope}
    exec(compile(text, source.name, "exec"), scope)
    return scope[made.definition.name]


def flattener(compiled, made, function, source, is_kernel, options):
    """What `_Compiled` calls to get the tree."""

    def flatten():
        from ..._jit.flatten import _Flattener

        first = function.place.line
        lines = source.lines[first - 1 : function.line_end]
        return _Flattener(
            compiled, made.definition, source.name, first, lines, is_kernel, options
        ).run()

    return flatten


class Body:
    """One function: ``run`` gives what it became."""

    def __init__(self, translation, function):
        self.t, self.f, self.source = translation, function, translation.source
        self.unit = translation.unit
        self.scopes, self.out, self.top = [{}], [], []
        self.used, self.fresh_count, self.hidden = set(), 0, []
        self.private = set()  # arrays of the work-item's own
        self.steps = []  # what `continue` does first, per loop
        self.dynamic = None
        self.spans_the_grid = function.is_kernel and groups.spans_the_grid(function)
        # Who takes part, of `warps`: here, in the whole function, and in the content of a loop that all go through.
        self.predicate = self.base_predicate = self.inner_predicate = None
        self.assigned = assigned(function.body, set())
        self.addressed = addressed(function.body, set())
        calls.referenced(translation, function.body, self.addressed)
        if self.unit.mutating:
            structs = {n for c, n, _ in function.parameters if c.record is not None}
            structs = methods.of_structs(function.body, structs)
            self.addressed |= methods.by_reference(translation, function.body, set()) & structs
        self.depth = 0  # of functions that are written into the body

    def error(self, place, what, advice):
        return self.source.error(place, what, advice)

    def new_name(self, name):
        plain = name + "_" if keyword.iskeyword(name) or name in words.TAKEN else name
        made, k = plain, 1
        while made in self.used:
            k += 1
            made = f"{plain}_{k}"
        self.used.add(made)
        return made

    def fresh(self, hint):
        self.fresh_count += 1
        return self.new_name(f"{hint}_{self.fresh_count}_")

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def hidden_parameter(self, key):
        """The name of a parameter behind those of C."""
        for known, name in self.hidden:
            if known == key:
                return name
        name = self.new_name("_".join(map(str, key)).replace(".", "_") + "_")
        self.hidden.append((key, name))
        return name

    def run(self):
        names = []
        for made, name, place in self.f.parameters:
            if made.base == "void":
                raise self.error(
                    place, f"'{name}' points to void", "write the type of its elements"
                )
            if made.is_reference and self.f.is_kernel:
                raise self.error(
                    place, f"'{name}' is a reference of a kernel", "pass a pointer to an array"
                )
            if made.space == "local" and self.f.is_kernel:
                raise self.error(
                    place,
                    f"'{name}' is local memory that the launch gives",
                    "declare it in the kernel",
                )
            names += self.parameter(made, name, place)
        parameters = list(names)
        uses_warps = warps.uses(self.t, self.f.body)
        if uses_warps and self.spans_the_grid:
            raise self.error(
                self.f.place, "warp functions in a kernel that synchronises the grid",
                "exchange values through memory",
            )  # fmt: skip
        if not self.f.is_kernel and uses_warps:
            self.predicate = self.base_predicate = self.hidden_parameter(("active",))
        self.block(self.f.body[2])
        place = self.f.place
        parameters += [n for _, n in self.hidden]
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=n) for n in parameters], kwonlyargs=[], kw_defaults=[],
            defaults=[],
        )  # fmt: skip
        body = [*self.top, *self.out] or [ast.Pass()]
        name = calls.plain_name(self.f.name)
        definition = ast.FunctionDef(
            name=name, args=arguments, body=body, decorator_list=[], returns=None, type_params=[]
        )
        at(definition, place)
        return Made(definition, sorted(self.used), {}, [k for k, _ in self.hidden])

    def parameter(self, made, name, place):
        """The names of Python's parameters for one of C's, which is then known."""
        if not (made.is_pointer or made.is_reference):
            return self.value_parameter(made, name, place)
        array = records.arrays(self, made.record, name) if made.record else self.new_name(name)
        names, offset = records.array_names(array), ""
        if not self.f.is_kernel:
            offset = self.new_name(name + "_at")
            names = [*names, offset]
        elif name in self.assigned:
            offset = self.new_name(name + "_at")
            self.assign(offset, ast.Constant(value=0), place)
        extents = tuple(declarations.extent(self, e, place) for e in made.extents)
        found = Variable("pointer", array, made.base, extents, made.is_const, record=made.record)
        self.scopes[0][name] = found._replace(is_reference=made.is_reference)
        if offset:
            self.scopes[0][name + " offset"] = offset
        return names

    def value_parameter(self, made, name, place):
        is_memory = made.record is not None and (
            records.has_union(made.record) or records.has_array(made.record)
        )
        if made.record:
            found = records.variable(self, name, made.record)
            names, value = list(found.name), expressions.value_of(self, records.lanes(found), place)
        else:
            py = self.new_name(name)
            found, names = Variable("number", py, made.base), [py]
            value = Number(self.read(py, place), made.base)
        self.scopes[0][name] = found
        if name in self.addressed or is_memory:
            del self.scopes[0][name]
            declarations.declare(self, made, name, ("value", place, value), place, False)
        return names

    def block(self, statements):
        self.scopes.append({})
        for s in statements:
            self.statement(s)
        self.scopes.pop()

    def inside(self, statements):
        """Python's statements of some of C's."""
        before, self.out = self.out, []
        self.block(statements)
        made, self.out = self.out, before
        return made or [ast.Pass()]

    placed = staticmethod(at)

    def emit(self, node, place):
        self.out.append(at(node, place))

    def assign(self, name, node, place):
        self.used.add(name)
        target = ast.Name(id=name, ctx=ast.Store())
        self.emit(ast.Assign(targets=[target], value=node), place)

    def read(self, name, place):
        return at(ast.Name(id=name, ctx=ast.Load()), place)

    def statement(self, s):
        room = declarations if s[0] == "declare" else statements
        write = getattr(room, f"statement_{s[0]}")
        if self.predicate is None or s[0] == "block":
            write(self, s[1], *s[2:])
            return
        before, self.out = self.out, []
        write(self, s[1], *s[2:])
        made, self.out = self.out, before
        self.out += warps.guarded(self, made)

    def known(self, word):
        """The node of a word of kernels."""
        return Known(id=word, ctx=ast.Load())

    def begin_at_zero(self, name, dtype, place):
        """Let a variable be 0 from the beginning, since it is assigned to under a predicate only."""
        self.used.add(name)
        target = ast.Name(id=name, ctx=ast.Store())
        zero = self.constant(0, dtype, place).node
        self.top.append(at(ast.Assign(targets=[target], value=zero), place))

    def evaluate(self, e, is_used=True):
        room = calls if e[0] in ("call", "member") else expressions
        return getattr(room, f"expression_{e[0]}")(self, e[1], *e[2:], is_used=is_used)

    def number(self, e):
        made = self.evaluate(e)
        if not isinstance(made, Number):
            what = "an array" if isinstance(made, Pointer) else "nothing"
            if isinstance(made, Aggregate):
                what = f"a value of '{made.record}'"
            raise self.error(e[1], f"a number is needed; got {what}", "index it, or leave it out")
        return made

    def pointer(self, e):
        made = self.evaluate(e)
        if not isinstance(made, Pointer):
            raise self.error(e[1], "an array or a pointer is needed; got a number", "pass an array")
        return made

    def constant(self, value, dtype, place):
        if dtype == "bool":
            return Number(at(ast.Constant(value=bool(value)), place), dtype, int(bool(value)))
        if is_complex(dtype):
            literal = ast.Constant(value=complex(value))
            return Number(self.call_known(getattr(np, dtype), [literal], place), dtype)
        value = float(value) if is_float(dtype) else arithmetic.wrapped(int(value), dtype)
        small = -(2**63) <= value < 2**63 if not is_float(dtype) else True
        literal = ast.Constant(value=value) if small else known_value(np.uint64(value), place)
        node = self.call_known(getattr(np, dtype), [literal], place)
        return Number(node, dtype, value, None if is_float(dtype) else literal)

    def call_known(self, value, args, place):
        return at(ast.Call(func=known_value(value, place), args=args, keywords=[]), place)

    def converted(self, v, dtype, place):
        """The node of a number as that dtype."""
        if v.dtype == dtype:
            return v.node
        if v.value is not None:
            return self.constant(v.value, dtype, place).node
        if dtype == "bool":
            return self.truth(v, place)
        if is_complex(v.dtype) and not is_complex(dtype):
            raise self.error(
                place, f"a complex number becomes {dtype}", "take a part of it: real(z) or imag(z)"
            )
        return self.call_known(getattr(np, dtype), [v.node], place)

    def truth(self, v, place):
        if v.dtype == "bool":
            return v.node
        zero = self.constant(0, v.dtype, place).node
        return at(ast.Compare(left=v.node, ops=[ast.NotEq()], comparators=[zero]), place)

    def condition(self, e):
        made = self.evaluate(e)
        if isinstance(made, Pointer):
            return at(ast.Constant(value=True), e[1])
        if not isinstance(made, Number):
            raise self.error(
                e[1],
                "a condition is a number; got something else",
                "compare numbers, or use any() and all()",
            )
        return self.truth(made, e[1])

    def offset(self, p, place):
        return p.offset if p.offset is not None else at(ast.Constant(value=0), place)

    def moved(self, p, amount, place, sign="+"):
        """The pointer moved by a Number of elements."""
        stride = records.count_of(p.extents)
        stride *= p.record.size // p.record.unit if p.record else 1
        node = amount.plain if amount.plain is not None else amount.node
        if p.offset is None and sign == "+" and stride == 1:
            return p._replace(offset=node)
        wide = (
            amount.plain if amount.plain is not None else self.call_known(np.int64, [node], place)
        )
        if stride != 1:
            wide = ast.BinOp(left=wide, op=ast.Mult(), right=ast.Constant(value=stride))
        if p.offset is None and sign == "+":
            return p._replace(offset=at(wide, place))
        op = ast.Add() if sign == "+" else ast.Sub()
        return p._replace(
            offset=at(
                ast.BinOp(left=self.wide(self.offset(p, place), place), op=op, right=wide), place
            )
        )

    def wide(self, node, place):
        is_wide = isinstance(node, (ast.Constant, ast.BinOp)) or isinstance(node, ast.Name)
        return node if is_wide else self.call_known(np.int64, [node], place)

    def element(self, p, place, ctx=None):
        if p.stored:
            return reinterpreted.read(self, p, place)
        slice_ = self.offset(p, place)
        array = ast.Name(id=p.array, ctx=ast.Load())
        return at(ast.Subscript(value=array, slice=slice_, ctx=ctx or ast.Load()), place)

    def load(self, p, place):
        """What a pointer points to: a number or a record, or a row, which is a pointer again."""
        if p.extents:
            return p._replace(extents=p.extents[1:])
        if p.record is not None:
            return records.loaded(self, p, place)
        return Number(self.element(p, place), p.dtype)

    def store(self, p, node, place):
        if p.stored:
            reinterpreted.write(self, p, node, place)
            return
        target = ast.Subscript(
            value=ast.Name(id=p.array, ctx=ast.Load()),
            slice=self.offset(p, place),
            ctx=ast.Store(),
        )
        self.emit(ast.Assign(targets=[target], value=node), place)

    def variable(self, name, place):
        found = self.find(name)
        if found is not None:
            return found
        if name in self.unit.variables:
            made, _, _ = self.unit.variables[name]
            if made.record:
                dtypes = made.record.dtypes
                array = {d: self.hidden_parameter(("array", name, d)) for d in dtypes}
                array = array[dtypes[0]] if len(dtypes) == 1 else array
            else:
                array = self.hidden_parameter(("array", name, made.base))
            extents = tuple(declarations.extent(self, e, place) for e in made.extents)
            is_const = made.space == "constant"
            return Variable("array", array, made.base, extents, is_const, record=made.record)
        raise self.error(place, f"'{name}' is not declared", "declare it, or is it spelled right?")

    def query(self, name, axis, place):
        """What a work-item asks of its index space: of CUDA uint32, whose values fit in int32."""
        if self.f.is_kernel:
            node = (
                groups.query(self, name, axis, place)
                if self.spans_the_grid
                else groups.asked(name, axis)
            )
        else:
            node = ast.Name(id=self.hidden_parameter(("query", name, axis)), ctx=ast.Load())
        node = at(node, place)
        return Number(self.call_known(np.uint32, [node], place), "uint32", None, node)
