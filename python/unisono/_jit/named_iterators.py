"""Rewrites iterators that are held in names: a list of what they still give, and a place in it."""

from __future__ import annotations

import ast

from .containers import Refused, Statements
from .desugar import Known, Let, _add, _assign, _at, _call, _constant, _copied, _name
from .resumed_generators import Unfit
from .walks import assignments

_TAKERS = frozenset(("all", "any", "list", "max", "min", "set", "sorted", "sum"))


class NamedIterators:
    """``builtin``, ``generator_of`` and ``fresh`` are the flattener's."""

    def with_iterators(self, body):
        """The statements, with variables of their own for iterators that names hold."""
        if not any(self.iterated(s.value) is not None for s in assignments(body)):
            return body
        made, bound = {}, {}
        for n in (n for s in body for n in ast.walk(s)):
            if isinstance(n, ast.arg) or (
                isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
            ):
                name = n.arg if isinstance(n, ast.arg) else n.id
                bound[name] = bound.get(name, 0) + 1
            target = n.targets[0] if isinstance(n, ast.Assign) and len(n.targets) == 1 else None
            if isinstance(target, ast.Name) and self.iterated(n.value) is not None:
                made.setdefault(target.id, []).append(n.value)
        names, resumed = set(), {}
        for name, values in made.items():
            if len(values) != bound[name]:
                continue
            if all(self.can_run_early(v, body) for v in values):
                names.add(name)
            else:
                resumed[name] = values
        if not names and not resumed:
            return body
        return _Places(self, names, resumed).block([_copied(s) for s in body])

    def iterated(self, e):
        """What an iterator that is made there goes over, or None."""
        is_iter = self.builtin(e) == "iter" and len(e.args) == 1 and not e.keywords
        if is_iter and not isinstance(e.args[0], ast.Starred):
            return e.args[0]
        if isinstance(e, ast.GeneratorExp):
            return e
        name = self.builtin(e)
        is_lazy = isinstance(e, ast.Call) and (name in ("map", "filter") or self.is_lazy(e))
        return e if is_lazy and name != "range" else None


class _Places(Statements):
    """`names` hold lists and places in them, `resumed` generators that run piece by piece."""

    def __init__(self, flattener, names, resumed):
        self.flattener = flattener
        self.names = {n: (flattener.fresh("items"), flattener.fresh("place")) for n in names}
        self.odd, self.resumed = set(), {}
        for name, values in resumed.items():
            try:
                if len(values) > 1:
                    raise Unfit
                self.resumed[name] = flattener.resumed(_copied(values[0]))
            except Unfit:
                self.odd.add(name)

    def held(self, e):
        return self.names.get(e.id) if isinstance(e, ast.Name) else None

    def pieces(self, e):
        return self.resumed.get(e.id) if isinstance(e, ast.Name) else None

    def test(self, at, items, place, op):
        length = _call("len", at, _name(items, at))
        return _at(ast.Compare(left=_name(place, at), ops=[op], comparators=[length]), at)

    def step(self, at, items, place, target):
        item = _at(
            ast.Subscript(value=_name(items, at), slice=_name(place, at), ctx=ast.Load()), at
        )
        first = _at(ast.Assign(targets=[target], value=item), at)
        after = _add(_name(place, at), _constant(1, at))
        return [first, _assign(_name(place, at, ast.Store()), _at(after, at))]

    def rest(self, at, items, place):
        """All that it still gives, which it then has given."""
        left = self.flattener.fresh("rest")
        part = ast.Slice(lower=_name(place, at), upper=None, step=None)
        value = ast.Subscript(value=_name(items, at), slice=_at(part, at), ctx=ast.Load())
        body = [
            _assign(_name(left, at, ast.Store()), _at(value, at)),
            _assign(_name(place, at, ast.Store()), _call("len", at, _name(items, at))),
        ]
        return _at(Let(body=body, value=_name(left, at)), at)

    def used(self, tree):
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        return names & {*self.names, *self.resumed, *self.odd}

    def visit_FunctionDef(self, s):
        used = self.used(s)
        return _at(ast.Expr(value=self.refused(s)), s) if used else s

    def visit_Lambda(self, e):
        used = self.used(e)
        return self.refused(e) if used else e

    def visit_Assign(self, s):
        name = getattr(s.targets[0], "id", "") if len(s.targets) == 1 else ""
        if name in self.resumed:
            return self.resumed[name].begin
        if name in self.odd:
            what = "this generator, whose effects would come early, held in a name"
            advice = "loop over it where it is made, or write it without try, recursion and *args"
            return _at(ast.Expr(value=_at(Refused(what=what, advice=advice), s)), s)
        held = self.held(s.targets[0]) if len(s.targets) == 1 else None
        if held is None:
            return self.generic_visit(s)
        given = self.visit(self.flattener.iterated(s.value))
        if isinstance(given, ast.GeneratorExp):
            given = _at(ast.ListComp(elt=given.elt, generators=given.generators), s)
        else:
            given = _call("list", s, given)
            given.func = _name("list", s)
        zero = _assign(_name(held[1], s, ast.Store()), _constant(0, s))
        return [_assign(_name(held[0], s, ast.Store()), given), zero]

    def visit_For(self, s):
        held, pieces = self.held(s.iter), self.pieces(s.iter)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        if pieces:
            return pieces.loop(s, s.target, s.body, s.orelse)
        if held is None:
            s.iter = self.visit(s.iter)
            return s
        body = [*self.step(s, *held, s.target), *s.body]
        test = self.test(s, *held, ast.Lt())
        return _at(ast.While(test=test, body=body, orelse=s.orelse), s)

    def visit_comprehension(self, c):
        held, pieces = self.held(c.iter), self.pieces(c.iter)
        if pieces:
            c.iter = self.all_of(c.iter, pieces)
            c.ifs = [self.visit(i) for i in c.ifs]
            return c
        c.iter = self.rest(c.iter, *held) if held else self.visit(c.iter)
        c.ifs = [self.visit(i) for i in c.ifs]
        return c

    def visit_ListComp(self, e):
        return self.stepped(e, self.flattener.filled_list)

    visit_GeneratorExp = visit_ListComp  # all its items are made where it stands

    def visit_SetComp(self, e):
        return self.stepped(e, self.flattener.filled_set)

    def visit_DictComp(self, e):
        return self.stepped(e, self.flattener.filled_dict)

    def stepped(self, e, filled):
        """The comprehension as loops, if what it computes advances an iterator that it loops over."""
        read = [n.id for n in ast.walk(e) if isinstance(n, ast.Name)]
        is_shared = any(read.count(name) > 1 for name in {*self.names, *self.resumed})
        return self.generic_visit(filled(e) if is_shared else e)

    def ended_early(self, e, name):
        """any, all and next of a generator expression over an iterator, which stop at an item; or None."""
        if name not in ("all", "any", "next") or not e.args:
            return None
        if not isinstance(e.args[0], ast.GeneratorExp) or not self.used(e.args[0]):
            return None
        made = self.flattener.first_item(e) if name == "next" else self.flattener.reduced(e)
        return made and self.generic_visit(made)

    def visit_Call(self, e):
        name = self.flattener.builtin(e)
        early = self.ended_early(e, name)
        if early is not None:
            return early
        held = self.held(e.args[0]) if e.args else None
        pieces = self.pieces(e.args[0]) if e.args else None
        if pieces and not e.keywords:
            if name in _TAKERS and len(e.args) == 1:
                e.args = [self.all_of(e, pieces)]
                return e
            if name == "next" and len(e.args) <= 2:
                return self.next_of(e, pieces)
        if held is None or e.keywords:
            return self.generic_visit(e)
        if name in _TAKERS and len(e.args) == 1:
            e.args = [self.rest(e, *held)]
            return e
        if name == "iter" and len(e.args) == 1:
            return self.refused(e)
        if name != "next" or len(e.args) > 2:
            return self.generic_visit(e)
        result = self.flattener.fresh("next")
        step = self.step(e, *held, _name(result, e, ast.Store()))
        if len(e.args) == 2:
            first = _assign(_name(result, e, ast.Store()), self.visit(e.args[1]))
            some = ast.If(test=self.test(e, *held, ast.Lt()), body=step, orelse=[])
            body = [first, _at(some, e)]
        else:
            error = _at(Known(id="StopIteration", ctx=ast.Load()), e)
            raised = _at(ast.Call(func=error, args=[], keywords=[]), e)
            stop = _at(ast.Raise(exc=raised, cause=None), e)
            none = ast.If(test=self.test(e, *held, ast.GtE()), body=[stop], orelse=[])
            body = [_at(none, e), *step]
        return _at(Let(body=body, value=_name(result, e)), e)

    def all_of(self, e, pieces):
        """A list of what it still gives."""
        rest, item = self.flattener.fresh("rest"), self.flattener.fresh("x")
        empty = _at(ast.List(elts=[], ctx=ast.Load()), e)
        append = _at(ast.Attribute(value=_name(rest, e), attr="append", ctx=ast.Load()), e)
        call = _at(ast.Call(func=append, args=[_name(item, e)], keywords=[]), e)
        loop = pieces.loop(e, _name(item, e, ast.Store()), [_at(ast.Expr(value=call), e)])
        body = [_assign(_name(rest, e, ast.Store()), empty), loop]
        return _at(Let(body=body, value=_name(rest, e)), e)

    def next_of(self, e, pieces):
        result = self.flattener.fresh("next")
        taken = pieces.taken(e, _name(result, e, ast.Store()))
        if len(e.args) == 2:
            default = _assign(_name(result, e, ast.Store()), self.visit(e.args[1]))
            there = ast.If(test=_name(pieces.ready, e), body=taken, orelse=[default])
            body = [*pieces.step(e), _at(there, e)]
        else:
            error = _at(Known(id="StopIteration", ctx=ast.Load()), e)
            raised = _at(ast.Call(func=error, args=[], keywords=[]), e)
            stop = pieces.if_ended(e, [_at(ast.Raise(exc=raised, cause=None), e)])
            body = [*pieces.step(e), stop, *taken]
        return _at(Let(body=body, value=_name(result, e)), e)

    def visit_Name(self, e):
        held = e.id in self.names or e.id in self.resumed
        return self.refused(e) if held and isinstance(e.ctx, ast.Load) else e

    def refused(self, e):
        advice = "give it to next, loops, list and sum only, or make a list"
        return _at(Refused(what="an iterator as a value of its own", advice=advice), e)
