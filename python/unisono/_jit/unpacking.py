"""Assignments to several targets: what their value is, a tuple or a list, is known when types are."""

from __future__ import annotations

import ast

from .desugar import _assign, _at, _call, _constant, _name


class Unpacked(ast.expr):
    """A value that several targets take apart, under a name."""

    _fields = ("value", "name", "targets")


class Unpacking:
    """``expression``, ``node``, ``fresh`` and ``range_call`` are the flattener's."""

    def unpacking(self, s):
        """Notes that an assignment to several targets takes its value apart; gives assignments for behind it.

        Those are of targets that are several themselves.
        """
        (target,) = s.targets if len(s.targets) == 1 else (None,)
        if not isinstance(target, (ast.Tuple, ast.List)) or isinstance(s.value, Unpacked):
            return []
        if self.range_call(s.value):
            s.value = _call("list", s.value, s.value)
        given = s.value.elts if isinstance(s.value, (ast.Tuple, ast.List)) else None
        more, elements = [], []
        for k, t in enumerate(target.elts):
            known = given[k] if given and len(given) == len(target.elts) else None
            if isinstance(t, (ast.Tuple, ast.List)) and not isinstance(known, ast.Tuple):
                name = self.fresh("u")
                more.append(_assign(t, _name(name, t)))
                t = _name(name, t, ast.Store())
            elements.append(t)
        s.targets = [_at(ast.Tuple(elts=elements, ctx=ast.Store()), target)]
        is_shape = isinstance(s.value, ast.Attribute) and s.value.attr == "shape"
        if given is None and not is_shape:
            s.value = _at(Unpacked(value=s.value, name=self.fresh("u"), targets=elements), s.value)
        return more

    def expression_Unpacked(self, e):
        place, count = e.value, len(e.targets)
        star = next((k for k, t in enumerate(e.targets) if isinstance(t, ast.Starred)), count)

        def item(k):
            number = _constant(k if k < star else k - count, place)
            if k == star:
                last = _constant(k + 1 - count, place) if k + 1 < count else None
                number = _at(ast.Slice(lower=_constant(k, place), upper=last, step=None), place)
            read = _at(
                ast.Subscript(value=_name(e.name, place), slice=number, ctx=ast.Load()), place
            )
            read.is_iteration = True
            return _call("list", place, read) if k == star else read

        store = _name(e.name, place, ast.Store())
        named = _at(ast.NamedExpr(target=store, value=e.value), place)
        size = _call("iteration", place, _name(e.name, place))
        items = [item(k) for k in range(count)]
        nodes = [self.expression(x) for x in (named, size, *items)]
        return self.node(place, "Call", [self.node(place, "Builtin", text="unpacked"), *nodes])
