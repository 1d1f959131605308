"""Variables that functions inside assign where an exception may leave them: lists of one item.

A function inside gives what it assigns around it back with its result, of which there is none where it raises.
Behind an ``except`` the variable must have what was assigned before: it lives in a list that all share.
"""

from __future__ import annotations

import ast
import copy

from .desugar import _at, _constant, _name

_OBJECTS = (ast.Call, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def _is_no_item(e):
    """Whether it may make what a list of one item cannot hold as it is, or None."""
    return isinstance(e, _OBJECTS) or (isinstance(e, ast.Constant) and e.value is None)


def with_cells(definition, writers):
    """The definition with such variables in lists, or itself where there are none that can be."""
    own = [n for s in definition.body for n in _own(s)]
    others = {n for s in own if isinstance(s, ast.Nonlocal) for n in s.names}
    others |= {a.arg for a in ast.walk(definition.args) if isinstance(a, ast.arg)}
    names = _assigned_in_tries(definition, writers) - others
    names = {n for n in names if _first_assignment(definition, n) is not None}
    names = {n for n in names if _is_plain(definition, n)}
    if not names:
        return definition
    made = copy.deepcopy(definition)
    for n in sorted(names):
        first = _first_assignment(made, n)
        made.body = _InCells(n, first).body(made.body)
    return made


def _assigned_in_tries(definition, writers):
    """Names that functions assign which are called in a try."""
    tried = [s for n in ast.walk(definition) if isinstance(n, ast.Try) for s in n.body]
    calls = [n.func for s in tried for n in ast.walk(s) if isinstance(n, ast.Call)]
    called = {f.id for f in calls if isinstance(f, ast.Name)}
    return {n for f in called for n in writers.get(f, ())}


def _first_assignment(definition, name):
    """The statement of the body that gives the name a plain value before all else speaks of it, or None."""
    for s in definition.body:
        if isinstance(s, ast.FunctionDef):  # reads it where it is called
            continue
        inside = [n for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        if inside:
            place = _place(s, name)
            is_first = place is not None and len(inside) == 1
            is_plain = is_first and not any(map(_is_no_item, ast.walk(place[0][place[1]])))
            return s if is_plain else None
    return None


def _place(s, name):
    """Where ``name = value`` or ``name, other = value, other`` has the value: in which list, and where there."""
    if not isinstance(s, ast.Assign) or len(s.targets) != 1:
        return None
    target, value = s.targets[0], s.value
    are_pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    if are_pairs and len(target.elts) == len(value.elts):
        for k, t in enumerate(target.elts):
            if isinstance(t, ast.Name) and t.id == name:
                return value.elts, k
    return ([value], 0) if isinstance(target, ast.Name) else None


def _is_plain(definition, name):
    """Whether assignments alone give the name values."""
    plain = set()
    for n in ast.walk(definition):
        if isinstance(n, ast.Assign):
            for t in n.targets:
                plain |= {id(i) for i in (t.elts if isinstance(t, ast.Tuple) else [t])}
        if isinstance(n, ast.AugAssign):
            plain.add(id(n.target))
        if isinstance(n, (ast.ExceptHandler, ast.MatchAs, ast.Global)):
            if name in (getattr(n, "name", ""), *getattr(n, "names", ())):
                return False
    stores = [
        n
        for n in ast.walk(definition)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return all(id(n) in plain for n in stores)


class _InCells(ast.NodeTransformer):
    """Writes uses of the name as ``name[0]``, but for functions that have their own of that name."""

    def __init__(self, name, first):
        self.name, self.first = name, first

    def body(self, statements):
        return [self.visit(s) for s in statements]

    def visit_Assign(self, s):
        if s is not self.first:
            return self.generic_visit(s)
        values, k = _place(s, self.name)
        made = _at(ast.List(elts=[values[k]], ctx=ast.Load()), s)
        if isinstance(s.targets[0], ast.Name):
            s.value = made
        else:
            values[k] = made
        return s

    def visit_Name(self, e):
        if e.id != self.name:
            return e
        return _at(ast.Subscript(value=_name(e.id, e), slice=_constant(0, e), ctx=e.ctx), e)

    def visit_Nonlocal(self, s):
        names = [n for n in s.names if n != self.name]
        return _at(ast.Nonlocal(names=names) if names else ast.Pass(), s)

    def visit_FunctionDef(self, f):
        args = {a.arg for a in ast.walk(f.args) if isinstance(a, ast.arg)}
        nodes = [n for s in f.body for n in _own(s)]
        declared = {n for s in nodes if isinstance(s, ast.Nonlocal) for n in s.names}
        stored = {
            n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        return f if self.name in (args | stored) - declared else self.generic_visit(f)

    def visit_Lambda(self, f):
        args = {a.arg for a in ast.walk(f.args) if isinstance(a, ast.arg)}
        return f if self.name in args else self.generic_visit(f)


def _own(node):
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _own(child)
