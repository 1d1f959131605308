"""Walks over Python's syntax trees, faster than those of `ast`: the first call of a function waits for them."""

from __future__ import annotations

import ast
import sys

_INSIDE = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


class Visitors(dict):
    """Names of methods by the class of a node, each the same string every time.

    Python keeps in a cache where the classes above have an attribute, by the string's identity: a name made
    anew at each node would be looked for in all of them.
    """

    def __init__(self, prefix):
        self.prefix = prefix

    def __missing__(self, kind):
        name = self[kind] = sys.intern(self.prefix + kind.__name__)
        return name


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
