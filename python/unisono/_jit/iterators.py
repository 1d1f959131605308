"""Rewrites loops over the iterators of itertools, and functools.reduce, as loops over ranges."""

from __future__ import annotations

import ast
import functools
import itertools

from .desugar import (
    Known,
    Let,
    _add,
    _assign,
    _at,
    _binary,
    _call,
    _constant,
    _floordiv,
    _integer,
    _mul,
    _name,
    _sub,
    _tuple,
)


class Iterators:
    """``iteration``, ``kept``, ``resolve`` and ``fresh`` are the flattener's."""

    def iteration_of_itertools(self, e, value, before):
        """product, repeat, islice, chain and pairwise; None for anything else."""
        name = getattr(value, "__name__", "")
        if getattr(itertools, name, None) is not value or any(
            isinstance(a, ast.Starred) for a in e.args
        ):
            return None
        named = {k.arg: k.value for k in e.keywords}
        if name == "product" and e.args and set(named) <= {"repeat"}:
            times = _integer(named["repeat"]) if named else 1
            if times is None or times < 1:
                return None
            once = [self.iteration(a, before) for a in e.args]
            parts = [(self.kept(n, before, "n"), item) for n, item in once] * times
            length = parts[0][0]
            for n, _ in parts[1:]:
                length = _mul(length, n)

            def item(k):
                items, rest = [], k
                for n, get in reversed(parts[1:]):
                    items.insert(0, get(_binary(rest, ast.Mod(), n)))
                    rest = _floordiv(rest, n)
                return _tuple(e, parts[0][1](rest), *items)

            return length, item
        if named:
            return None
        if name == "repeat" and len(e.args) == 2:
            kept = self.kept(e.args[0], before, "v")
            return _call("max", e, e.args[1], _constant(0, e)), lambda k: kept
        if name == "islice" and len(e.args) == 2 and self.generator_of(e.args[0]) is None:
            length, item = self.iteration(e.args[0], before)
            return _call("min", e, length, e.args[1]), item
        if name == "pairwise" and len(e.args) == 1:
            length, item = self.iteration(e.args[0], before)
            length = _call("max", e, _sub(length, _constant(1, e)), _constant(0, e))
            return length, lambda k: _tuple(e, item(k), item(_add(k, _constant(1, e))))
        if name == "chain" and e.args:
            parts = [self.iteration(a, before) for a in e.args]
            lengths = [self.kept(n, before, "n") for n, _ in parts]
            length = lengths[0]
            for n in lengths[1:]:
                length = _add(length, n)

            def chained(k):
                gets, offset = [parts[0][1](k)], lengths[0]
                tests = []
                for (_, item), n in zip(parts[1:], lengths[1:], strict=True):
                    tests.append(offset)
                    gets.append(item(_sub(k, offset)))
                    offset = _add(offset, n)
                value = gets.pop()
                for test, get in reversed(list(zip(tests, gets, strict=True))):
                    less = _at(ast.Compare(left=k, ops=[ast.Lt()], comparators=[test]), e)
                    value = _at(ast.IfExp(test=less, body=get, orelse=value), e)
                return value

            return length, chained
        return None

    def folded(self, e):
        """functools.reduce as a loop, or None."""
        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        if not found or value is not functools.reduce or e.keywords or len(e.args) not in (2, 3):
            return None
        function, items, *start = e.args
        result = self.fresh("r")
        read = lambda: _name(result, e)  # noqa: E731
        store = lambda: _name(result, e, ast.Store())  # noqa: E731
        item = self.fresh("x")
        call = _at(ast.Call(func=function, args=[read(), _name(item, e)], keywords=[]), e)
        body = []
        if start:
            body.append(_assign(store(), start[0]))
        else:
            length, get = self.iteration(items, body)
            count, index = self.fresh("n"), self.fresh("i")
            body.append(_assign(_name(count, e, ast.Store()), length))
            empty = _at(
                ast.Compare(left=_name(count, e), ops=[ast.Eq()], comparators=[_constant(0, e)]), e
            )
            text = "reduce() of empty iterable with no initial value"
            error = _at(Known(id="TypeError", ctx=ast.Load()), e)
            raised = _at(ast.Call(func=error, args=[_constant(text, e)], keywords=[]), e)
            fails = _at(ast.Raise(exc=raised, cause=None), e)
            body.append(_at(ast.If(test=empty, body=[fails], orelse=[]), e))
            body.append(_assign(store(), get(_constant(0, e))))
            numbers = _call("range", e, _constant(1, e), _name(count, e))
            step = [
                _assign(_name(item, e, ast.Store()), get(_name(index, e))),
                _assign(store(), call),
            ]
            target = _name(index, e, ast.Store())
            loop = ast.For(target=target, iter=numbers, body=step, orelse=[])
            return _at(Let(body=[*body, _at(loop, e)], value=read()), e)
        target = _name(item, e, ast.Store())
        loop = ast.For(target=target, iter=items, body=[_assign(store(), call)], orelse=[])
        return _at(Let(body=[*body, _at(loop, e)], value=read()), e)
