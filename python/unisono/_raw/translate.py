"""Python's syntax tree of a function of C text, with the places of the text.

Numbers are converted where C converts them, so that each operation has C's type and wraps as C's does. An array or a
pointer is a one-dimensional array and an offset in elements. What C writes inside of an expression (assignments, ``i++``,
atomics) goes before the statement. Shared and local arrays are made at the top of the kernel.
"""

from __future__ import annotations

import ast
import keyword
from typing import NamedTuple

import numpy as np

from .. import _jit
from .._jit.desugar import Known, Value
from . import complex_words, words
from .numbers import RANK, Number, Pointer, Variable, common, is_complex, is_float, promoted
from .parser import CType

_BINARY = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
    "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_COMPARE = {"==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, ">": ast.Gt, "<=": ast.LtE, ">=": ast.GtE}


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

    def kernel(self, function):
        """The Made of a kernel."""
        return Body(self, function).run()

    def device_function(self, function, key, place):
        """(compiled function, its hidden parameters) of a ``__device__`` function."""
        if key in self.made:
            if self.made[key] is None:
                raise self.source.error(place, f"'{function.name}' calls itself", "write a loop")
            return self.made[key]
        if function.body is None:
            raise self.source.error(
                place, f"'{function.name}' is declared and not defined", "add its text"
            )
        self.made[key] = None
        made = Body(self, function).run()
        compiled = stub(made, function, self.source)
        flatten = flattener(compiled, made, function, self.source, False, {"cdivision": False})
        f = _jit.JitFunction(compiled, False, None, {}, flatten=flatten)
        self.made[key] = (f, made.hidden)
        return self.made[key]


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
        from .._jit.flatten import _Flattener

        first = function.place.line
        lines = source.lines[first - 1 : function.line_end]
        return _Flattener(
            compiled, made.definition, source.name, first, lines, is_kernel, options
        ).run()

    return flatten


def _known(value, place):
    return at(Value(value=value, ctx=ast.Load()), place)


def at(node, place):
    """The node with its place, and those made for it that have none."""
    for n in ast.walk(node):
        if not hasattr(n, "lineno"):
            n.lineno = n.end_lineno = place.line
            n.col_offset, n.end_col_offset = place.column, place.column + 1
    return node


def assigned(tree, found):
    """Names that statements or expressions of C assign to."""
    if isinstance(tree, tuple) and tree and isinstance(tree[0], str):
        if tree[0] == "assign" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "step" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "unary" and tree[2] == "&" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "declare":
            found.update(d[1] for d in tree[2])
    if isinstance(tree, (tuple, list)):
        for t in tree:
            assigned(t, found)
    return found


def _mentions(tree, found):
    if isinstance(tree, tuple) and tree and tree[0] == "name":
        found.add(tree[2])
    if isinstance(tree, (tuple, list)):
        for t in tree:
            _mentions(t, found)
    return found


def _is_simple(tree):
    """Whether an expression reads names and numbers only."""
    if tree[0] in ("number", "name"):
        return True
    if tree[0] in ("binary", "unary"):
        return tree[2] not in ("*&" if tree[0] == "unary" else ()) and all(
            _is_simple(t) for t in tree[3:]
        )
    if tree[0] == "member":
        return tree[2][0] == "name" and tree[2][2] in words.INDICES
    return tree[0] == "cast" and _is_simple(tree[3])


class Body:
    """One function: ``run`` gives what it became."""

    def __init__(self, translation, function):
        self.t, self.f, self.source = translation, function, translation.source
        self.unit = translation.unit
        self.scopes, self.out, self.top = [{}], [], []
        self.used, self.fresh_count, self.hidden, self.calls = set(), 0, [], {}
        self.steps = []  # what `continue` does first, per loop
        self.dynamic = None

    def error(self, place, what, advice):
        return self.source.error(place, what, advice)

    # ---- names
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

    # ---- the function
    def run(self):
        names = []
        for made, name, place in self.f.parameters:
            if made.base == "void":
                raise self.error(
                    place, f"'{name}' points to void", "write the type of its elements"
                )
            if made.is_reference:
                raise self.error(
                    place,
                    f"'{name}' is a reference",
                    "return the value, or pass a pointer to an array",
                )
            if made.space == "local" and self.f.is_kernel:
                raise self.error(
                    place,
                    f"'{name}' is local memory that the launch gives",
                    "declare it in the kernel",
                )
            py = self.new_name(name)
            names.append(py)
            if made.is_pointer:
                offset = ""
                if not self.f.is_kernel:
                    offset = self.new_name(name + "_at")
                    names.append(offset)
                extents = tuple(self.extent(e, place) for e in made.extents)
                found = Variable("pointer", py, made.base, extents, made.is_const)
                self.scopes[0][name] = found
                self.calls[py] = offset
            else:
                self.scopes[0][name] = Variable("number", py, made.base)
        parameters = list(names)
        self.block(self.f.body[2])
        place = self.f.place
        parameters += [n for _, n in self.hidden]
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=n) for n in parameters], kwonlyargs=[], kw_defaults=[],
            defaults=[],
        )  # fmt: skip
        body = [*self.top, *self.out] or [ast.Pass()]
        name = self.f.name
        definition = ast.FunctionDef(
            name=name, args=arguments, body=body, decorator_list=[], returns=None, type_params=[]
        )
        at(definition, place)
        return Made(definition, sorted(self.used), {}, [k for k, _ in self.hidden])

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

    # ---- statements
    def statement(self, s):
        getattr(self, f"statement_{s[0]}")(s[1], *s[2:])

    def statement_block(self, place, statements):
        self.block(statements)

    def statement_evaluate(self, place, e):
        self.evaluate(e, is_used=False)

    def statement_return(self, place, value):
        if value is None:
            self.emit(ast.Return(value=None), place)
            return
        made = self.converted(self.number(value), self.f.result.base, place)
        self.emit(ast.Return(value=made), place)

    def statement_break(self, place):
        self.emit(ast.Break(), place)

    def statement_continue(self, place):
        if not self.steps:
            raise self.error(place, "continue outside of a loop", "leave it out")
        if self.steps[-1] is not None:
            self.steps[-1]()
        self.emit(ast.Continue(), place)

    def statement_if(self, place, test, yes, no):
        condition = self.condition(test)
        body, orelse = self.inside([yes]), self.inside([no]) if no else []
        self.emit(ast.If(test=condition, body=body, orelse=orelse), place)

    def loop(self, place, test, body, step):
        """``while test`` around a body that ends with a step."""
        before, self.out = self.out, []
        condition = self.condition(test) if test else at(ast.Constant(value=True), place)
        pre, self.out = self.out, []
        if pre:
            leave = ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=condition), body=[ast.Break()], orelse=[]
            )
            self.out = [*pre, at(leave, place)]
            condition = at(ast.Constant(value=True), place)
        self.steps.append(step)
        self.block([body])
        self.steps.pop()
        if step:
            step()
        made, self.out = self.out or [ast.Pass()], before
        self.emit(ast.While(test=condition, body=made, orelse=[]), place)

    def statement_while(self, place, test, body):
        self.loop(place, test, body, None)

    def statement_do(self, place, test, body):
        first = self.fresh("first")
        self.assign(first, ast.Constant(value=True), place)
        before, self.out = self.out, []
        condition = self.condition(test)
        leave = ast.If(
            test=ast.UnaryOp(op=ast.Not(), operand=condition), body=[ast.Break()], orelse=[]
        )
        check, self.out = [*self.out, at(leave, place)], []
        self.emit(
            ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=self.read(first, place)),
                body=check, orelse=[],
            ),
            place,
        )  # fmt: skip
        self.assign(first, ast.Constant(value=False), place)
        self.steps.append(None)
        self.block([body])
        self.steps.pop()
        made, self.out = self.out, before
        self.emit(ast.While(test=ast.Constant(value=True), body=made, orelse=[]), place)

    def statement_for(self, place, first, test, step, body):
        self.scopes.append({})
        if not self.range_loop(place, first, test, step, body):
            if first:
                self.statement(first)
            do_step = (lambda: self.evaluate(step, is_used=False)) if step else None
            self.loop(place, test, body, do_step)
        self.scopes.pop()

    def range_loop(self, place, first, test, step, body):
        """Write a loop that counts as one over a range; returns whether it is one."""
        if not first or first[0] != "declare" or len(first[2]) != 1 or not test or not step:
            return False
        made, name, start, _ = first[2][0]
        is_count = not made.is_pointer and not made.extents and made.base in RANK[:4]
        if not is_count or start is None or test[0] != "binary" or test[2] not in "<=>=":
            return False
        if test[3][:1] != ("name",) or test[3][2] != name or not _is_simple(test[4]):
            return False
        changed = assigned(body, set())
        names = _mentions(test[4], set())
        if step[0] == "step" and step[3][:1] == ("name",) and step[3][2] == name:
            by, sign = ("number", place, 1, "int32"), step[2]
        elif step[0] == "assign" and step[2] in ("+=", "-=") and step[3][:1] == ("name",):
            if step[3][2] != name or not _is_simple(step[4]):
                return False
            by, sign = step[4], step[2][0]
        else:
            return False
        names |= _mentions(by, set())
        if name in changed or name in names or changed & names:
            return False
        if (sign == "+") != (test[2][0] == "<"):
            return False
        amount = self.number(by)
        if amount.value is None or amount.value <= 0:
            if by[0] == "number" or not (sign == "+" and amount.dtype.startswith("uint")):
                return False
        begin = self.converted(self.number(start), made.base, place)
        end = self.number(test[4])
        kind = common(made.base, end.dtype)
        if is_float(kind) or (
            kind != made.base and kind.startswith("u") and not made.base.startswith("u")
        ):
            return False
        if end.value is None and kind != common(end.dtype, end.dtype):
            if kind.startswith("u") and not end.dtype.startswith("u"):
                return False
        stop = end.plain if end.plain is not None else end.node
        stop = self.call_known(np.int64, [stop], place)
        begin = self.call_known(np.int64, [begin], place)
        jump = self.call_known(np.int64, [amount.node], place)
        if amount.value is not None:
            jump = at(ast.Constant(value=int(amount.value)), place)
        if test[2] in ("<=", ">="):
            one = ast.Constant(value=1)
            stop = ast.BinOp(left=stop, op=ast.Add() if sign == "+" else ast.Sub(), right=one)
        if sign == "-":
            jump = ast.UnaryOp(op=ast.USub(), operand=jump)
        py = self.new_name(name)
        self.scopes[-1][name] = Variable("number", py, made.base, is_plain=True)
        self.steps.append(None)
        inner = self.inside([body])
        self.steps.pop()
        over = ast.Call(
            func=Known(id="range", ctx=ast.Load()), args=[begin, stop, jump], keywords=[]
        )
        target = ast.Name(id=py, ctx=ast.Store())
        self.emit(ast.For(target=target, iter=over, body=inner, orelse=[]), place)
        return True

    def statement_switch(self, place, value, cases):
        kept = self.fresh("switch")
        given = self.number(value)
        dtype = promoted(given.dtype)
        self.assign(kept, self.converted(given, dtype, place), place)
        chain, waiting = [], []
        for k, (here, label, body) in enumerate(cases):
            waiting.append(label)
            if not body and k + 1 < len(cases):
                continue
            if len(body) == 1 and body[0][0] == "block":
                body = body[0][2]
            ends = body and body[-1][0] in ("break", "return", "continue")
            if not ends and k + 1 < len(cases):
                raise self.error(
                    here,
                    "a case that goes on with the next one is not translated",
                    "end it with break",
                )
            own = body[:-1] if ends and body[-1][0] == "break" else body
            if any(b[0] == "break" for b in _flat(own)):
                raise self.error(
                    here, "a break inside of a case is not translated", "use if and else"
                )
            chain.append((here, waiting, own))
            waiting = []
        chain.sort(key=lambda c: None in c[1])
        self.switch_chain(chain, kept, dtype, place)

    def switch_chain(self, chain, kept, dtype, place):
        if not chain:
            return
        here, labels, own = chain[0]
        if None in labels:
            self.block(own)
            return
        tests = []
        for label in labels:
            v = self.converted(self.number(label), dtype, here)
            tests.append(ast.Compare(left=self.read(kept, here), ops=[ast.Eq()], comparators=[v]))
        test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.Or(), values=tests)
        body = self.inside(own)
        before, self.out = self.out, []
        self.switch_chain(chain[1:], kept, dtype, place)
        orelse, self.out = self.out, before
        self.emit(ast.If(test=test, body=body, orelse=orelse), here)

    # ---- declarations
    def extent(self, e, place):
        if e is None:
            raise self.error(place, "an extent is missing", "write a number")
        v = self.number(e)
        if v.value is None or is_float(v.dtype) or v.value <= 0:
            raise self.error(
                place,
                "the extent of an array is a positive constant",
                "write a number, or #define one",
            )
        return int(v.value)

    def statement_declare(self, place, items, is_extern):
        for made, name, value, here in items:
            self.declare(made, name, value, here, is_extern)

    def declare(self, made, name, value, here, is_extern):
        if made.is_pointer:
            return self.declare_pointer(made, name, value, here)
        if made.base == "void":
            raise self.error(here, f"'{name}' is void", "write a type")
        if not made.extents and made.space != "local":
            py = self.new_name(name)
            given = self.number(value[2][0] if value[0] == "list" else value) if value else None
            node = (
                self.converted(given, made.base, here)
                if given
                else self.constant(0, made.base, here).node
            )
            self.assign(py, node, here)
            self.scopes[-1][name] = Variable("number", py, made.base)
            return None
        if made.space == "local" and not self.f.is_kernel:
            raise self.error(
                here, f"'{name}' is shared memory of a device function", "declare it in the kernel"
            )
        py = self.new_name(name)
        if is_extern or made.extents[:1] == (None,):
            extents = (self.dynamic_extent(made.base, name, here),)
            if value is not None:
                extents = (len(value[2]),)
        else:
            extents = tuple(self.extent(e, here) for e in made.extents)
        word = "un.local_array" if made.space == "local" else "un.private_array"
        size = int(np.prod(extents, dtype=np.int64)) if extents else 1
        dtype = _known(getattr(np, words.NUMPY.get(made.base, made.base)), here)
        call = ast.Call(
            func=Known(id=word, ctx=ast.Load()), args=[ast.Constant(value=size), dtype], keywords=[]
        )
        self.used.add(py)
        target = ast.Name(id=py, ctx=ast.Store())
        self.top.append(at(ast.Assign(targets=[target], value=call), here))
        if not self.f.is_kernel:
            raise self.error(
                here,
                f"'{name}' is an array of a device function",
                "declare it in the kernel, and pass it",
            )
        self.scopes[-1][name] = Variable("array", py, made.base, extents)
        if value is not None:
            self.fill(py, value, made.base, extents, here)
        return None

    def fill(self, py, value, dtype, extents, here):
        flat = []
        _flatten_list(value, extents, flat)
        for k in range(int(np.prod(extents))):
            given = self.number(flat[k]) if k < len(flat) and flat[k] else None
            v = self.converted(given, dtype, here) if given else self.constant(0, dtype, here).node
            self.store(Pointer(py, None, dtype), ast.Constant(value=k), v, here)

    def dynamic_extent(self, dtype, name, here):
        if self.dynamic not in (None, name):
            raise self.error(
                here,
                "one array takes the launch's shared memory; got a second one",
                "give it an extent",
            )
        self.dynamic = name
        total, size = self.t.shared_bytes, np.dtype(words.NUMPY.get(dtype, dtype)).itemsize
        if total < size:
            raise self.error(
                here, f"'{name}' takes the launch's shared memory; got {total} bytes",
                "launch it with shared_mem= bytes",
            )  # fmt: skip
        return total // size

    def declare_pointer(self, made, name, value, here):
        if value is None:
            raise self.error(
                here, f"'{name}' points nowhere", "give it an array, or an offset into one, at once"
            )
        p = self.pointer(value)
        if made.base not in (p.dtype, "void"):
            raise self.error(
                here, f"'{name}' points to {made.base}; got elements of {p.dtype}",
                "pointers keep the type of their elements",
            )  # fmt: skip
        offset = self.new_name(name + "_at")
        self.assign(offset, self.offset(p, here), here)
        found = Variable("pointer", p.array, p.dtype, (), made.is_const)
        self.scopes[-1][name] = found
        self.scopes[-1][name + " offset"] = offset

    # ---- expressions
    def evaluate(self, e, is_used=True):
        made = getattr(self, f"expression_{e[0]}")(e[1], *e[2:], is_used=is_used)
        return made

    def number(self, e):
        made = self.evaluate(e)
        if not isinstance(made, Number):
            what = "an array" if isinstance(made, Pointer) else "nothing"
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
        value = float(value) if is_float(dtype) else words.wrapped(int(value), dtype)
        small = -(2**63) <= value < 2**63 if not is_float(dtype) else True
        literal = ast.Constant(value=value) if small else _known(np.uint64(value), place)
        node = self.call_known(getattr(np, dtype), [literal], place)
        return Number(node, dtype, value, None if is_float(dtype) else literal)

    def call_known(self, value, args, place):
        return at(ast.Call(func=_known(value, place), args=args, keywords=[]), place)

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
        if made is None:
            raise self.error(e[1], "a condition is a number; got nothing", "compare something")
        return self.truth(made, e[1])

    def offset(self, p, place):
        return p.offset if p.offset is not None else at(ast.Constant(value=0), place)

    def moved(self, p, amount, place, sign="+"):
        """The pointer moved by a Number of elements."""
        stride = int(np.prod(p.extents, dtype=np.int64)) if p.extents else 1
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
        slice_ = self.offset(p, place)
        array = ast.Name(id=p.array, ctx=ast.Load())
        return at(ast.Subscript(value=array, slice=slice_, ctx=ctx or ast.Load()), place)

    def load(self, p, place):
        """What a pointer points to: a number, or a row, which is a pointer again."""
        if p.extents:
            return p._replace(extents=p.extents[1:])
        return Number(self.element(p, place), p.dtype)

    def store(self, p, index, node, place):
        target = ast.Subscript(
            value=ast.Name(id=p.array, ctx=ast.Load()), slice=index, ctx=ast.Store()
        )
        self.emit(ast.Assign(targets=[target], value=node), place)

    def expression_number(self, place, value, dtype, is_used=True):
        return self.constant(value, dtype, place)

    def variable(self, name, place):
        found = self.find(name)
        if found is not None:
            return found
        if name in self.unit.variables:
            made, _, _ = self.unit.variables[name]
            py = self.hidden_parameter(("array", name))
            extents = tuple(self.extent(e, place) for e in made.extents)
            return Variable("array", py, made.base, extents, made.space == "constant")
        raise self.error(place, f"'{name}' is not declared", "declare it, or is it spelled right?")

    def expression_name(self, place, name, args, is_used=True):
        if self.find(name) is None:
            if name in self.unit.constants:
                made, value = self.unit.constants[name]
                v = self.number(value)
                if v.value is not None:
                    return self.constant(v.value, made.base, place)
                return Number(self.converted(v, made.base, place), made.base)
            if name in words.CONSTANTS:
                return self.constant(*words.CONSTANTS[name], place)
        v = self.variable(name, place)
        if v.kind == "number":
            node = self.read(v.name, place)
            if v.is_plain:
                return Number(
                    self.call_known(getattr(np, v.dtype), [node], place), v.dtype, None, node
                )
            return Number(node, v.dtype)
        if v.kind == "array":
            p = Pointer(v.name, None, v.dtype, v.extents[1:], v.is_const)
            return p if v.extents else self.load(p, place)
        offset = self.find(name + " offset") or self.calls.get(v.name)
        return Pointer(
            v.name, self.read(offset, place) if offset else None, v.dtype, v.extents, v.is_const
        )

    def expression_comma(self, place, left, right, is_used=True):
        self.evaluate(left, is_used=False)
        return self.evaluate(right, is_used)

    def expression_index(self, place, array, index, is_used=True):
        p = self.pointer(array)
        return self.load(self.indexed(p, index, place), place)

    def indexed(self, p, index, place):
        i = self.number(index)
        if is_float(i.dtype):
            raise self.error(index[1], f"an index is an integer; got {i.dtype}", "cast it to int")
        return self.moved(p, i, place)

    def place_of(self, e):
        """What is assigned to: the Variable of a number, or a Pointer to one element."""
        if e[0] == "name":
            v = self.variable(e[2], e[1])
            if v.kind == "array" and not v.extents:
                return Pointer(v.name, None, v.dtype, (), v.is_const)
            return v
        if e[0] == "index":
            return self.indexed(self.pointer(e[2]), e[3], e[1])
        if e[0] == "unary" and e[2] == "*":
            return self.pointer(e[3])
        raise self.error(e[1], "this cannot be assigned to", "assign to a variable or an element")

    def kept(self, p, place):
        """The pointer with an offset that may be written twice."""
        if p.offset is None or isinstance(p.offset, (ast.Constant, ast.Name)):
            return p
        name = self.fresh("at")
        self.assign(name, p.offset, place)
        return p._replace(offset=self.read(name, place))

    def put(self, target, v, place):
        """Assign a Number; gives what the target then is."""
        node = self.converted(v, target.dtype, place)
        if isinstance(target, Pointer):
            if target.is_const:
                raise self.error(place, f"'{target.array}' is const", "leave const out")
            if target.extents:
                raise self.error(place, "an array cannot be assigned to", "assign to its elements")
            self.store(target, self.offset(target, place), node, place)
            return Number(self.element(target, place), target.dtype)
        if target.is_plain:
            raise AssertionError("the variable of a range is not assigned to")
        self.assign(target.name, node, place)
        return Number(self.read(target.name, place), target.dtype)

    def value_of(self, target, place):
        if isinstance(target, Pointer):
            return Number(self.element(target, place), target.dtype)
        return Number(self.read(target.name, place), target.dtype)

    def expression_assign(self, place, op, left, right, is_used=True):
        target = self.place_of(left)
        if isinstance(target, Variable) and target.kind != "number":
            return self.move_pointer(place, op, left, target, right)
        if op == "=":
            return self.put(target, self.number(right), place)
        if isinstance(target, Pointer):
            target = self.kept(target, place)
        value = self.number(right)
        return self.put(
            target, self.combined(op[:-1], self.value_of(target, place), value, place), place
        )

    def move_pointer(self, place, op, left, target, right):
        name = left[2] + " offset"
        offset = self.find(name)
        if offset is None or op not in ("=", "+=", "-="):
            raise self.error(
                place, f"'{left[2]}' is no pointer that can move", "declare a pointer of the kernel"
            )
        if op == "=":
            p = self.pointer(right)
            if p.array != target.name:
                raise self.error(
                    place,
                    f"'{left[2]}' would point into another array",
                    "use a pointer for each array",
                )
        else:
            p = self.moved(self.pointer(left), self.number(right), place, op[0])
        self.assign(offset, self.offset(p, place), place)
        return p._replace(offset=self.read(offset, place))

    def expression_step(self, place, op, operand, is_before, is_used=True):
        one = ("number", place, 1, "int32")
        if is_before or not is_used:
            return self.expression_assign(place, op + "=", operand, one)
        target = self.place_of(operand)
        if isinstance(target, Variable) and target.kind != "number":
            p = self.pointer(operand)
            kept = self.fresh("before")
            self.assign(kept, self.offset(p, place), place)
            self.move_pointer(place, op + "=", operand, target, one)
            return p._replace(offset=self.read(kept, place))
        if isinstance(target, Pointer):
            target = self.kept(target, place)
        kept = self.fresh("before")
        self.assign(kept, self.value_of(target, place).node, place)
        before = Number(self.read(kept, place), target.dtype)
        self.put(target, self.combined(op, before, self.constant(1, "int32", place), place), place)
        return before

    def expression_unary(self, place, op, operand, is_used=True):
        if op == "*":
            return self.load(self.pointer(operand), place)
        if op == "&":
            target = self.place_of(operand)
            if isinstance(target, Variable):
                raise self.error(
                    place,
                    "the address of a variable is not translated",
                    "use an array of one element",
                )
            return target
        v = self.number(operand)
        if op == "!":
            return Number(
                at(ast.UnaryOp(op=ast.Not(), operand=self.truth(v, place)), place), "bool"
            )
        dtype = promoted(v.dtype)
        if v.value is not None and op in "+-":
            return self.constant(-v.value if op == "-" else v.value, dtype, place)
        node = self.converted(v, dtype, place)
        if op == "+":
            return Number(node, dtype)
        if op == "~" and (is_float(dtype) or is_complex(dtype)):
            raise self.error(place, "~ needs an integer", "cast it")
        made = ast.USub() if op == "-" else ast.Invert()
        return Number(at(ast.UnaryOp(op=made, operand=node), place), dtype)

    def expression_binary(self, place, op, left, right, is_used=True):
        if op in ("&&", "||"):
            return self.logical(place, op, left, right)
        whole = words.global_index(op, left, right)
        if whole is not None:
            return self.query("global_id", whole, place)
        a, b = self.evaluate(left), self.evaluate(right)
        if isinstance(a, Pointer) or isinstance(b, Pointer):
            return self.pointer_binary(place, op, a, b)
        if a is None or b is None:
            raise self.error(place, f"{op} needs two numbers; got nothing", "give values")
        return self.combined(op, a, b, place)

    def pointer_binary(self, place, op, a, b):
        if isinstance(a, Pointer) and isinstance(b, Number) and op in "+-":
            return self.moved(a, b, place, op)
        if isinstance(b, Pointer) and isinstance(a, Number) and op == "+":
            return self.moved(b, a, place)
        both = isinstance(a, Pointer) and isinstance(b, Pointer) and a.array == b.array
        if both and (op == "-" or op in _COMPARE):
            x, y = self.offset(a, place), self.offset(b, place)
            if op == "-":
                made = ast.BinOp(left=self.wide(x, place), op=ast.Sub(), right=self.wide(y, place))
                return Number(self.call_known(np.int64, [at(made, place)], place), "int64")
            made = ast.Compare(left=x, ops=[_COMPARE[op]()], comparators=[y])
            return Number(at(made, place), "bool")
        raise self.error(place, f"{op} of pointers into different arrays", "compare offsets")

    def combined(self, op, a, b, place):
        """Two Numbers combined as C does."""
        if op in ("<<", ">>"):
            dtype = promoted(a.dtype)
        else:
            dtype = common(a.dtype, b.dtype)
        if a.value is not None and b.value is not None:
            folded = words.folded(op, a.value, b.value, dtype)
            if folded is not None and not is_complex(dtype):
                return self.constant(folded, "bool" if op in _COMPARE else dtype, place)
        has_no_order = is_complex(dtype) and op in ("<", ">", "<=", ">=")
        if has_no_order or (
            not dtype.startswith(("int", "uint")) and op in ("&", "|", "^", "<<", ">>", "%")
        ):
            raise self.error(place, f"{op} needs integers; got {dtype}", "cast them, or use fmod")
        x, y = self.converted(a, dtype, place), self.converted(b, dtype, place)
        if op in _COMPARE:
            return Number(
                at(ast.Compare(left=x, ops=[_COMPARE[op]()], comparators=[y]), place), "bool"
            )
        if op == "/" and (is_float(dtype) or is_complex(dtype)):
            return Number(at(ast.BinOp(left=x, op=ast.Div(), right=y), place), dtype)
        if op in "/%":
            if dtype.startswith("u"):
                made = ast.FloorDiv() if op == "/" else ast.Mod()
                return Number(at(ast.BinOp(left=x, op=made, right=y), place), dtype)
            rest = self.call_known(np.fmod, [x, y], place)
            if op == "%":
                return Number(rest, dtype)
            exact = ast.BinOp(left=x, op=ast.Sub(), right=rest)
            return Number(at(ast.BinOp(left=exact, op=ast.FloorDiv(), right=y), place), dtype)
        return Number(at(ast.BinOp(left=x, op=_BINARY[op](), right=y), place), dtype)

    def apart(self, e):
        """(condition of an expression, the statements that it needs before)."""
        before, self.out = self.out, []
        made = self.condition(e)
        pre, self.out = self.out, before
        return made, pre

    def logical(self, place, op, left, right):
        a = self.condition(left)
        b, pre = self.apart(right)
        if not pre:
            made = ast.BoolOp(op=ast.And() if op == "&&" else ast.Or(), values=[a, b])
            return Number(at(made, place), "bool")
        kept = self.fresh("test")
        self.assign(kept, a, place)
        test = self.read(kept, place)
        if op == "||":
            test = ast.UnaryOp(op=ast.Not(), operand=test)
        target = ast.Name(id=kept, ctx=ast.Store())
        body = [*pre, at(ast.Assign(targets=[target], value=b), place)]
        self.emit(ast.If(test=test, body=body, orelse=[]), place)
        return Number(self.read(kept, place), "bool")

    def expression_choose(self, place, test, yes, no, is_used=True):
        condition = self.condition(test)
        before, self.out = self.out, []
        a = self.number(yes)
        pre_a, self.out = self.out, []
        b = self.number(no)
        pre_b, self.out = self.out, before
        dtype = "bool" if a.dtype == b.dtype == "bool" else common(a.dtype, b.dtype)
        x, y = self.converted(a, dtype, place), self.converted(b, dtype, place)
        if not pre_a and not pre_b:
            return Number(at(ast.IfExp(test=condition, body=x, orelse=y), place), dtype)
        kept = self.new_name(self.fresh("chosen"))
        put = lambda v: at(  # noqa: E731
            ast.Assign(targets=[ast.Name(id=kept, ctx=ast.Store())], value=v), place
        )
        self.emit(ast.If(test=condition, body=[*pre_a, put(x)], orelse=[*pre_b, put(y)]), place)
        return Number(self.read(kept, place), dtype)

    def expression_cast(self, place, made, operand, is_used=True):
        if made.is_pointer:
            p = self.pointer(operand)
            if made.base not in (p.dtype, "void"):
                raise self.error(
                    place, f"a pointer to {p.dtype} becomes one to {made.base}",
                    "pointers keep the type of their elements",
                )  # fmt: skip
            return p
        if made.base == "void":
            self.evaluate(operand, is_used=False)
            return None
        v = self.number(operand)
        if v.value is not None:
            value = v.value if is_float(made.base) or is_complex(made.base) else int(v.value)
            return self.constant(value, made.base, place)
        plain = v.plain if made.base in ("int32", "int64") and v.dtype in RANK[:3] else None
        return Number(self.converted(v, made.base, place), made.base, None, plain)

    def expression_complex(self, place, dtype, real, imag, is_used=True):
        return complex_words.made(self, dtype, self.number(real), self.number(imag), place)

    def expression_sizeof(self, place, what, is_used=True):
        dtype = what.base if isinstance(what, CType) else self.number(what).dtype
        return self.constant(np.dtype(words.NUMPY.get(dtype, dtype)).itemsize, "uint64", place)

    def expression_text(self, place, text, is_used=True):
        raise self.error(place, "text is not translated", "use numbers")

    def expression_list(self, place, items, is_used=True):
        raise self.error(place, "a list in an expression", "write an array's initial values so")

    # ---- words
    def query(self, name, axis, place):
        """What a work-item asks of its index space: of CUDA uint32, whose values fit in int32."""
        if self.f.is_kernel:
            node = ast.Call(
                func=Known(id=f"un.{name}", ctx=ast.Load()),
                args=[ast.Constant(value=axis)],
                keywords=[],
            )
        else:
            node = ast.Name(id=self.hidden_parameter(("query", name, axis)), ctx=ast.Load())
        node = at(node, place)
        return Number(self.call_known(np.uint32, [node], place), "uint32", None, node)

    def expression_member(self, place, owner, name, is_used=True):
        axis = "xyz".find(name)
        if owner[0] == "name" and owner[2] in words.INDICES and axis >= 0 and len(name) == 1:
            return self.query(words.INDICES[owner[2]], axis, place)
        v = self.evaluate(owner) if owner[0] != "name" or self.find(owner[2]) else None
        if isinstance(v, Number) and is_complex(v.dtype) and name in ("x", "y"):
            return complex_words.member(self, place, v, "real" if name == "x" else "imag")
        raise self.error(place, f"'.{name}' is a member of a struct", "structs are not translated")

    def expression_call(self, place, callee, args, is_used=True):
        if callee[0] == "member" and callee[3] in ("real", "imag") and not args:
            v = self.number(callee[2])
            if is_complex(v.dtype):
                return complex_words.member(self, place, v, callee[3])
        if callee[0] != "name":
            raise self.error(place, "only functions that are named can be called", "name it")
        name, given = callee[2], callee[3]
        if name in self.unit.functions or name in self.unit.templates:
            return self.call_function(place, name, given, args)
        made = words.call(self, place, name, args, is_used)
        if made is words.UNKNOWN:
            raise self.error(
                place, f"the function '{name}' is not known", "define it in the text as __device__"
            )
        return made

    def call_function(self, place, name, given, args):
        values = [self.evaluate(a) for a in args]
        if name in self.unit.templates:
            function, key = self.instance(place, name, given, values)
        else:
            function, key = self.unit.functions[name], name
        if function.is_kernel:
            raise self.error(place, f"'{name}' is a kernel", "call a __device__ function")
        if len(values) != len(function.parameters):
            raise self.error(
                place, f"'{name}' takes {len(function.parameters)} arguments; got {len(values)}",
                "give as many",
            )  # fmt: skip
        compiled, hidden = self.t.device_function(function, key, place)
        nodes = []
        for v, (made, parameter, _) in zip(values, function.parameters, strict=True):
            if made.is_pointer != isinstance(v, Pointer) or v is None:
                raise self.error(
                    place, f"'{parameter}' of '{name}' is {made}", "give what it expects"
                )
            if isinstance(v, Pointer):
                if v.dtype != made.base:
                    raise self.error(
                        place, f"'{parameter}' of '{name}' is {made}; got elements of {v.dtype}",
                        "give an array of its type",
                    )  # fmt: skip
                nodes += [
                    self.read(v.array, place),
                    self.call_known(np.int64, [self.offset(v, place)], place),
                ]
            else:
                nodes.append(self.converted(v, made.base, place))
        for key in hidden:
            if key[0] == "array":
                nodes.append(self.read(self.variable(key[1], place).name, place))
            else:
                nodes.append(self.query(key[1], key[2], place).plain)
        call = at(ast.Call(func=_known(compiled, place), args=nodes, keywords=[]), place)
        if function.result.base == "void":
            self.emit(ast.Expr(value=call), place)
            return None
        kept = self.fresh(name)
        self.assign(kept, call, place)
        return Number(self.read(kept, place), function.result.base)

    def instance(self, place, name, given, values):
        template = self.unit.templates[name]
        bound = [g if isinstance(g, CType) else self.number(g).value for g in given or ()]
        open_ = [CType(f"?{k}") for k in range(len(template.parameters))]
        if len(bound) < len(open_):
            form = self.t.parser.instance(name, [*bound, *open_[len(bound) :]])
            for k in range(len(bound), len(open_)):
                found = [
                    v.dtype for v, (p, _, _) in zip(values, form.parameters, strict=False)
                    if p.base == f"?{k}" and v is not None
                ]  # fmt: skip
                if not found:
                    raise self.error(
                        place, f"the template parameter {template.parameters[k][0]} of '{name}' is not known",
                        f"write {name}<...>(...)",
                    )  # fmt: skip
                bound.append(CType(found[0]))
        return self.t.parser.instance(name, bound), (name, *map(str, bound))


def _flat(statements):
    for s in statements:
        if s is None:
            continue
        yield s
        if s[0] == "block":
            yield from _flat(s[2])
        elif s[0] == "if":
            yield from _flat([s[3], s[4]])


def _flatten_list(value, extents, out):
    """Appends the items of a list of values, in order, with None for those that are left out."""
    if value[0] != "list":
        out.append(value)
        return
    size = int(np.prod(extents[1:], dtype=np.int64)) if len(extents) > 1 else 1
    for item in value[2]:
        before = len(out)
        _flatten_list(item, extents[1:], out)
        if item[0] == "list":
            out += [None] * (size - (len(out) - before))
