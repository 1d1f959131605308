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

_endless = 2**62  # so often a loop that never ends runs at most


def _length(e):
    """How many items a sequence that is written has, or None."""
    if isinstance(e, (ast.Tuple, ast.List)):
        return len(e.elts)
    if isinstance(e, ast.Constant) and isinstance(e.value, str):
        return len(e.value)
    is_range = isinstance(e, ast.Call) and getattr(e.func, "id", "") == "range"
    bounds = [_integer(a) for a in e.args] if is_range and not e.keywords else [None]
    return None if None in bounds or len(bounds) > 3 else len(range(*bounds))


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
        if name == "count" and not named and all(_integer(a) is not None for a in e.args):
            start, step = [*e.args, *[_constant(0, e), _constant(1, e)][len(e.args) :]][:2]
            return _constant(_endless, e), lambda k: _add(start, _mul(k, step))
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
        if name == "cycle" and len(e.args) == 1:
            length, item = self.iteration(e.args[0], before)
            length = self.kept(length, before, "n")
            one = _call("max", e, length, _constant(1, e))
            some = _call("min", e, length, _constant(1, e))
            return _mul(some, _constant(_endless, e)), lambda k: item(_binary(k, ast.Mod(), one))
        if name == "islice" and len(e.args) == 2 and self.generator_of(e) is None:
            length, item = self.iteration(e.args[0], before)
            if isinstance(e.args[1], ast.Constant) and e.args[1].value is None:
                return length, item
            stop = self.kept(e.args[1], before, "n")
            negative = ast.Compare(left=stop, ops=[ast.Lt()], comparators=[_constant(0, e)])
            text = "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
            error = _at(Known(id="ValueError", ctx=ast.Load()), e)
            raised = _at(ast.Call(func=error, args=[_constant(text, e)], keywords=[]), e)
            fails = _at(ast.Raise(exc=raised, cause=None), e)
            if not isinstance(stop, ast.Constant) or stop.value < 0:
                before.append(_at(ast.If(test=_at(negative, e), body=[fails], orelse=[]), e))
            return _call("min", e, length, stop), item
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

    def generator_of_itertools(self, e):
        """The generator of the library that a call of itertools stands for, or None."""
        f = e.func
        found, value = self.resolve(f)
        if not found and isinstance(f, ast.Attribute) and f.attr == "from_iterable":
            found, value = self.resolve(f.value)
            if found and value is itertools.chain:
                from .iterator_library import from_iterable

                return from_iterable
            return None
        name = getattr(value, "__name__", "") if found else ""
        if not name or getattr(itertools, name, None) is not value:
            return None
        from .iterator_library import generator_for

        if name == "count" and not e.keywords and all(_integer(a) is not None for a in e.args):
            return None
        if name == "islice" and len(e.args) == 2 and self.generator_of(e.args[0]) is None:
            return None
        if name == "accumulate" and e.args and self.is_endless(e.args[0]):
            from .iterator_library import accumulate_lazily

            return accumulate_lazily
        named = next((k.value for k in e.keywords if k.arg == "r"), None)
        chosen = e.args[1] if len(e.args) > 1 else named
        count = _integer(chosen) if chosen is not None else _length(e.args[0]) if e.args else None
        return generator_for(name, len(e.args), count, hasattr(e, "gives_rows"))

    def odd_iterator(self, e):
        """A refusal of a call of itertools that nothing loops over, or that says too little; else None."""
        found, value = self.resolve(e.func)
        name = getattr(value, "__name__", "") if found else ""
        if not name or getattr(itertools, name, None) is not value:
            return None
        advice = "loop over it, or make a list of it: list(...)"
        if name in ("combinations", "combinations_with_replacement", "permutations"):
            advice = (
                f"give a constant number of items, {name}(x, 3), or loop over it and read the items "
                f"of what it gives only"
            )
        return self.unsupported(e, f"itertools.{name} of this form", advice)

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
