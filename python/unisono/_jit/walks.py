"""Walks over Python's syntax trees, faster than those of `ast`: the first call of a function waits for them."""

from __future__ import annotations

import ast

_INSIDE = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def own_nodes(nodes):
    """The nodes and all below them, in order, but for what belongs to functions and classes inside."""
    found, waiting = [], list(nodes)[::-1]
    while waiting:
        n = waiting.pop()
        found.append(n)
        if isinstance(n, _INSIDE):
            continue
        for name in n._fields[::-1]:
            child = getattr(n, name, None)
            if child.__class__ is list:
                waiting.extend(c for c in child[::-1] if isinstance(c, ast.AST))
            elif isinstance(child, ast.AST) and name not in ("ctx", "op"):
                waiting.append(child)
    return found


def statements(body):
    """The statements of the body and those in them, of functions inside too."""
    for s in body:
        yield s
        for name in _BODIES:
            inner = getattr(s, name, None)
            if inner.__class__ is list:
                yield from statements(inner)


def assignments(body):
    """Those that are ``name = value``."""
    for s in statements(body):
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            yield s
