"""The body of a generator around that of a loop: its names, its yields, and the ways out of both."""

from __future__ import annotations

import ast
import builtins

from .desugar import Value, _at, _call, _constant, _copied, _name
from .desugar import _assign as _value

_BLOCKS = ("body", "orelse", "finalbody")


def blocks_of(s):
    """(owner, field) of each list of statements inside of a statement."""
    for field in _BLOCKS:
        if isinstance(getattr(s, field, None), list):
            yield s, field
    for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
        yield part, "body"


def leaves(body, kind):
    """Statements of that kind that leave the loop whose body it is."""
    found = []
    for s in body:
        if isinstance(s, kind):
            found.append(s)
        if isinstance(s, (ast.For, ast.While)):
            found += leaves(s.orelse, kind)
        elif not isinstance(s, ast.FunctionDef):
            for owner, field in blocks_of(s):
                found += leaves(getattr(owner, field), kind)
    return found


class Scope(ast.NodeTransformer):
    """The generator's own names are fresh; others stand for what they are where it was defined."""

    def __init__(self, flattener, function, names):
        self.flattener, self.function, self.names = flattener, function, names
        self.hidden = set()  # parameters of a lambda
        if function is not None:
            cells = function.__closure__ or ()
            self.cells = dict(zip(function.__code__.co_freevars, cells, strict=True))

    def visit_Lambda(self, n):
        before = self.hidden
        self.hidden = before | {a.arg for a in ast.walk(n.args) if isinstance(a, ast.arg)}
        n.body = self.visit(n.body)
        self.hidden = before
        return n

    def visit_ExceptHandler(self, n):
        n.name = self.names.get(n.name, n.name)
        return self.generic_visit(n)

    def visit_Nonlocal(self, n):
        return _at(ast.Pass(), n)

    def visit_Name(self, n):
        if n.id in self.hidden:
            return n
        if n.id in self.names:
            n.id = self.names[n.id]
            return n
        if self.function is None:  # defined inside: the names around it are those here
            return n
        scope = self.function.__globals__
        if n.id in self.cells:
            owner, value = self.cells[n.id], self.cells[n.id].cell_contents
        elif n.id in scope:
            owner, value = scope, scope[n.id]
        elif hasattr(builtins, n.id):
            return n
        else:
            return n
        self.flattener.guard(owner, n.id, value)
        return _at(Value(value=value, ctx=ast.Load()), n)


class Flat(ast.NodeTransformer):
    """`yield from items` as a loop that yields; what ends the body of a try is yielded behind its handlers."""

    def block(self, body):
        return [self.visit(s) for s in body]

    def visit_Try(self, s):
        s = self.generic_visit(s)
        last = s.body[-1]
        if (
            not s.handlers
            or not isinstance(last, ast.Expr)
            or not isinstance(last.value, ast.Yield)
        ):
            return s
        value = last.value.value or _constant(None, last)
        s.body[-1] = _value(_name("__yielded", last, ast.Store()), value)
        last.value.value = _name("__yielded", last)
        s.orelse.insert(0, last)
        return s

    def visit_Expr(self, s):
        if not isinstance(s.value, ast.YieldFrom):
            return s
        item = _name("__item", s, ast.Store())
        given = _at(ast.Expr(value=_at(ast.Yield(value=_name("__item", s)), s)), s)
        return _at(ast.For(target=item, iter=s.value.value, body=[given], orelse=[]), s)


class Yields:
    """Puts the loop's body where the generator yields."""

    def __init__(self, flattener, loop, once, stop):
        self.flattener, self.loop, self.once, self.stop = flattener, loop, once, stop

    def block(self, statements):
        made = []
        for s in statements:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                made += self.run(s.value.value)
                continue
            if isinstance(s, ast.Return):
                stopped = _name(self.stop, self.loop, ast.Store())
                made += [_value(stopped, _constant(True, self.loop)), _at(ast.Break(), self.loop)]
                continue
            has_yield = any(isinstance(n, (ast.Yield, ast.Return)) for n in ast.walk(s))
            for owner, field in blocks_of(s):
                setattr(owner, field, self.block(getattr(owner, field)))
            made.append(s)
            if self.stop and has_yield:
                made.append(self.leave())
        return made

    def leave(self):
        test = _name(self.stop, self.loop)
        return _at(ast.If(test=test, body=[_at(ast.Break(), self.loop)], orelse=[]), self.loop)

    def run(self, value):
        s = self.loop
        value = value or _constant(None, s)
        made = [_value(_copied(s.target), value)]
        body = [_copied(b) for b in s.body]
        if not self.once:
            return [*made, *body]
        if self.stop:
            body = _noted(body, self.stop)
        inner = ast.For(
            target=_name(self.flattener.fresh("once"), s, ast.Store()),
            iter=_call("range", s, _constant(1, s)),
            body=body,
            orelse=[],
        )
        made.append(_at(inner, s))
        if self.stop:
            made.append(self.leave())
        return made


def _noted(body, stop):
    """Each break of the loop also sets the name."""
    made = []
    for s in body:
        if isinstance(s, ast.Break):
            made.append(_value(_name(stop, s, ast.Store()), _constant(True, s)))
        is_loop = isinstance(s, (ast.For, ast.While))
        for owner, field in blocks_of(s) if not isinstance(s, ast.FunctionDef) else ():
            if not is_loop or field == "orelse":
                setattr(owner, field, _noted(getattr(owner, field), stop))
        made.append(s)
    return made
