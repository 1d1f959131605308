"""Rewrites match statements as if and elif."""

from __future__ import annotations

import ast

from .desugar import Known, _assign, _at, _call, _constant, _copied, _name

_PLAIN = (int, float, bool, str, tuple, list, complex, dict, set)  # one item: the value itself


class _NoPlainForm(Exception):
    """A pattern that compiled code does not know."""


class Match:
    """Patterns as tests and assignments; ``fresh``, ``kept`` and ``resolve`` are the flattener's."""

    def chain(self, s):
        """Statements in place of a match, or None where a pattern is not known."""
        before = []
        subject = self.kept(s.subject, before, "m")
        if isinstance(subject, ast.Name) and not before:
            name = self.fresh("m")
            before.append(_assign(_name(name, subject, ast.Store()), subject))
            subject = _name(name, subject)
        tail = []
        try:
            for case in reversed(s.cases):
                tail = self.case(case, subject, tail)
        except _NoPlainForm:
            return None
        return [*before, *tail]

    def case(self, case, subject, tail):
        at = case.pattern
        tests, captures = self.pattern(at, subject)
        if case.guard is not None:
            # What the pattern binds is read where it lies: the guard decides before it is bound.
            tests = [*tests, _Reading(dict(captures)).visit(_copied(case.guard))]
        bound = [_assign(_name(n, at, ast.Store()), _copied(e)) for n, e in captures]
        body = [*bound, *case.body]
        return [_at(ast.If(test=_all(tests, at), body=body, orelse=tail), at)] if tests else body

    def pattern(self, p, subject):
        """(tests that all must hold, (name, value) for what is bound)."""
        method = getattr(self, f"pattern_{type(p).__name__}", None)
        if method is None:
            raise _NoPlainForm
        return method(p, subject)

    def pattern_MatchValue(self, p, subject):
        equal = ast.Compare(left=subject, ops=[ast.Eq()], comparators=[p.value])
        return [_at(equal, p)], []

    def pattern_MatchSingleton(self, p, subject):
        value = _constant(p.value, p)
        if p.value is None:
            return [_at(ast.Compare(left=subject, ops=[ast.Is()], comparators=[value]), p)], []
        equal = _at(ast.Compare(left=subject, ops=[ast.Eq()], comparators=[value]), p)
        return [_is_of(subject, p, _known("bool", p)), equal], []

    def pattern_MatchOr(self, p, subject):
        parts = [self.pattern(q, subject) for q in p.patterns]
        if any(captures for _, captures in parts):
            raise _NoPlainForm
        if not all(tests for tests, _ in parts):
            return [], []
        return [_at(ast.BoolOp(op=ast.Or(), values=[_all(t, p) for t, _ in parts]), p)], []

    def pattern_MatchAs(self, p, subject):
        tests, captures = self.pattern(p.pattern, subject) if p.pattern else ([], [])
        return tests, [*captures, *([(p.name, subject)] if p.name else [])]

    def pattern_MatchSequence(self, p, subject):
        """Of tuples and lists."""
        size = _call("len", p, subject)
        star = next((k for k, q in enumerate(p.patterns) if isinstance(q, ast.MatchStar)), None)
        wanted = _constant(len(p.patterns) - (star is not None), p)
        fits = ast.Eq() if star is None else ast.GtE()
        tests = [
            _is_of(subject, p, _known("tuple", p), _known("list", p)),
            _at(ast.Compare(left=size, ops=[fits], comparators=[wanted]), p),
        ]
        captures = []
        for k, q in enumerate(p.patterns):
            if k == star:
                if q.name:
                    captures.append((q.name, self.rest_of(subject, k, len(p.patterns) - k - 1, q)))
                continue
            place = k if star is None or k < star else k - len(p.patterns)
            item = ast.Subscript(value=subject, slice=_constant(place, q), ctx=ast.Load())
            self.add(tests, captures, self.pattern(q, _at(item, q)))
        return tests, captures

    def rest_of(self, subject, begin, behind, at):
        """What a star takes: a list, but for so many items in front and behind."""
        end = _constant(-behind, at) if behind else None
        part = _at(ast.Slice(lower=_constant(begin, at), upper=end, step=None), at)
        items = _at(ast.Subscript(value=subject, slice=part, ctx=ast.Load()), at)
        return _call("list", at, items)

    def pattern_MatchClass(self, p, subject):
        found, cls = self.resolve(p.cls)
        if not found or not isinstance(cls, type):
            raise _NoPlainForm
        tests, captures = [_is_of(subject, p, p.cls)], []
        if cls in _PLAIN:
            if len(p.patterns) > 1 or p.kwd_patterns:
                raise _NoPlainForm
            for q in p.patterns:
                self.add(tests, captures, self.pattern(q, subject))
            return tests, captures
        names = [*getattr(cls, "__match_args__", ())[: len(p.patterns)], *p.kwd_attrs]
        if len(names) < len(p.patterns) + len(p.kwd_attrs):
            raise _NoPlainForm
        for name, q in zip(names, [*p.patterns, *p.kwd_patterns], strict=True):
            item = ast.Attribute(value=subject, attr=name, ctx=ast.Load())
            self.add(tests, captures, self.pattern(q, _at(item, q)))
        return tests, captures

    def add(self, tests, captures, part):
        tests += part[0]
        captures += part[1]


class _Reading(ast.NodeTransformer):
    """Names that stand for expressions."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return _copied(self.values[node.id]) if node.id in self.values else node


def _known(name, place):
    return _at(Known(id=name, ctx=ast.Load()), place)


def _is_of(value, place, *classes):
    kind = classes[0] if len(classes) == 1 else ast.Tuple(elts=list(classes), ctx=ast.Load())
    return _call("isinstance", place, value, kind if len(classes) == 1 else _at(kind, place))


def _all(tests, place):
    return tests[0] if len(tests) == 1 else _at(ast.BoolOp(op=ast.And(), values=tests), place)
