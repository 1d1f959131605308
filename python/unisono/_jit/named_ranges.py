"""Rewrites ranges that are held in names: their bounds and steps are held in variables of their own."""

from __future__ import annotations

import ast

from .containers import Statements
from .desugar import _assign, _at, _call, _constant, _copied, _integer, _name
from .walks import assignments


class NamedRanges:
    """``builtin`` and ``fresh`` are the flattener's."""

    def with_ranges(self, body, parameters):
        """The statements, with ``range(a, b, c)`` for names that hold nothing else."""
        made, bound = {}, {}
        for s in assignments(body):
            if self.parts_of_range(s.value) is not None:
                made.setdefault(s.targets[0].id, []).append(self.parts_of_range(s.value))
        if not made:
            return body
        for n in (n for s in body for n in ast.walk(s)):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                bound.update(dict.fromkeys(n.names, -1))
            name = getattr(n, "arg", None) if isinstance(n, ast.arg) else None
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                name = n.id
            if name is not None:
                bound[name] = bound.get(name, 0) + 1
        held = {
            n: self.range_places(v)
            for n, v in made.items()
            if len(v) == bound[n] and n not in parameters
        }
        return _Bounds(self, held).block([_copied(s) for s in body]) if held else body

    def parts_of_range(self, e):
        """Start, end and step of a call of range, or None."""
        if not isinstance(e, ast.Call) or self.builtin(e) != "range" or e.keywords:
            return None
        if not 1 <= len(e.args) <= 3 or any(isinstance(a, ast.Starred) for a in e.args):
            return None
        zero, one = _constant(0, e), _constant(1, e)
        return [*([zero] if len(e.args) == 1 else []), *e.args, one][:3]

    def range_places(self, values):
        """What is written for start, end and step: the number that all have, or a variable."""
        places = []
        for part, hint in zip(zip(*values, strict=True), ("start", "stop", "step"), strict=True):
            numbers = {_integer(e) for e in part}
            is_one = len(numbers) == 1 and None not in numbers
            places.append(numbers.pop() if is_one else self.fresh(hint))
        return places


class _Bounds(Statements):
    def __init__(self, flattener, held):
        self.flattener, self.held = flattener, held

    def visit_Assign(self, s):
        self.generic_visit(s)
        target = s.targets[0]
        places = self.held.get(target.id) if isinstance(target, ast.Name) else None
        if places is None or len(s.targets) > 1:
            return s
        values = self.flattener.parts_of_range(s.value)
        return [
            _assign(_name(place, s, ast.Store()), value)
            for place, value in zip(places, values, strict=True)
            if isinstance(place, str)
        ] or _at(ast.Pass(), s)

    def visit_Name(self, e):
        places = self.held.get(e.id)
        if places is None or not isinstance(e.ctx, ast.Load):
            return e
        parts = [_name(p, e) if isinstance(p, str) else _constant(p, e) for p in places]
        return _call("range", e, *parts)
