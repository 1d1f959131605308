"""Rewrites dicts whose keys are known when compiling: each key becomes a name, which has a type of its own."""

from __future__ import annotations

import ast

from .desugar import _assign, _at, _copied, _name


def with_known_keys(flattener, body):
    """The statements, with names in place of the items of dicts that are written once and then used by constant keys.

    Such a dict (``settings = {"dt": 0.1, "steps": 10, "name": "x"}``) may hold values of several types.
    """
    if '"]' not in flattener.text and "']" not in flattener.text:
        return body
    if not any(_pairs(flattener, s) for t in body for s in ast.walk(t)):
        return body
    body = [_copied(s) for s in body]
    _rewrite(flattener, body, body)
    return body


def _rewrite(flattener, whole, block):
    """Change a block of the function, and those inside of it."""
    at = 0
    while at < len(block):
        s = block[at]
        pairs = _pairs(flattener, s)
        keys = pairs is not None and [*dict(pairs), *_added(s.targets[0].id, block[at + 1 :])]
        if keys and _is_known(whole, s.targets[0], keys, block[at + 1 :]):
            name = s.targets[0].id
            names = {key: f"{name}[{key!r}]" for key in keys}  # as messages show them
            flattener.locals.update(names.values())
            made = [_assign(_name(names[key], value, ast.Store()), value) for key, value in pairs]
            writer = _Writer(name, names)
            block[at:] = [*made, *(writer.visit(t) for t in block[at + 1 :])]
            continue  # the values may be such dicts
        for inner in (getattr(s, part, None) for part in ("body", "orelse", "finalbody")):
            if isinstance(inner, list) and not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
                _rewrite(flattener, whole, inner)
        at += 1


def _pairs(flattener, s):
    """Keys and values, where a statement gives a name a dict that is written with different texts as keys."""
    if (
        not isinstance(s, ast.Assign)
        or len(s.targets) != 1
        or not isinstance(s.targets[0], ast.Name)
    ):
        return None
    value = s.value
    is_made = isinstance(value, ast.Dict) or (flattener.builtin(value) == "dict" and value.keywords)
    pairs = flattener.known_pairs(value) if is_made else None
    return pairs if pairs is not None and len(dict(pairs)) == len(pairs) else None


def _added(name, behind):
    """Keys that the statements of the block itself assign before anything else uses them."""
    used = set()
    for s in behind:
        target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else None
        own = {
            _key_of(n)
            for n in ast.walk(s)
            if n is not target and isinstance(n, ast.Subscript) and _is_name(n.value, name)
        }
        key = _key_of(target) if isinstance(target, ast.Subscript) else None
        if key is not None and _is_name(target.value, name) and key not in used | own:
            yield key
            used.add(key)
        used |= own


def _is_name(e, name):
    return isinstance(e, ast.Name) and e.id == name


def _is_known(whole, target, keys, behind):
    """Whether the statements behind use the name by these keys alone, and nothing else uses it."""
    nodes = [n for t in whole for n in ast.walk(t)]
    functions = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.Lambda, ast.ClassDef))]
    inside = [n for f in functions for n in ast.walk(f)]
    if any(isinstance(n, ast.Name) and n.id == target.id for n in inside):
        return False
    subscripts = [n for t in behind for n in ast.walk(t) if isinstance(n, ast.Subscript)]
    known = {id(n.value) for n in subscripts if _key_of(n) in keys} | {id(target)}
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == target.id]
    is_declared = any(
        target.id in getattr(n, "names", ()) or target.id == getattr(n, "name", None) for n in nodes
    )
    return len(uses) > 1 and all(id(n) in known for n in uses) and not is_declared


def _key_of(e):
    key = getattr(e.slice, "value", None) if isinstance(e.slice, ast.Constant) else None
    return key if isinstance(key, str) and not isinstance(e.ctx, ast.Del) else None


class _Writer(ast.NodeTransformer):
    """Writes ``name[key]`` as the name of that key."""

    def __init__(self, name, names):
        self.name, self.names = name, names

    def visit_Subscript(self, e):
        self.generic_visit(e)
        if _is_name(e.value, self.name):
            return _at(ast.Name(id=self.names[_key_of(e)], ctx=e.ctx), e)
        return e
