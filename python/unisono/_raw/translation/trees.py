"""Questions about the trees of C text, and places for the nodes of Python's tree."""

from __future__ import annotations

import ast

import numpy as np

from ..._jit.desugar import Value

INDICES = {
    "threadIdx": "local_id", "blockIdx": "group_id", "blockDim": "local_size", "gridDim": "num_groups",
}  # fmt: skip


def known_value(value, place):
    """The node of a Python object."""
    return at(Value(value=value, ctx=ast.Load()), place)


def at(node, place):
    """The node with its place, and those made for it that have none."""
    for n in ast.walk(node):
        if not hasattr(n, "lineno"):
            n.lineno = n.end_lineno = place.line
            n.col_offset, n.end_col_offset = place.column, place.column + 1
    return node


def assigned(tree, found):
    """Names that statements or expressions of C assign to."""
    if isinstance(tree, tuple) and tree and isinstance(tree[0], str):
        if tree[0] == "assign" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "step" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "unary" and tree[2] == "&" and tree[3][0] == "name":
            found.add(tree[3][2])
        elif tree[0] == "declare":
            found.update(d[1] for d in tree[2])
    if isinstance(tree, (tuple, list)):
        for t in tree:
            assigned(t, found)
    return found


def addressed(tree, found):
    """Names of variables, or of those whose members they are, whose address is taken."""
    if isinstance(tree, tuple) and tree and tree[0] == "unary" and tree[2] == "&":
        inner = root(tree[3])
        if inner is not None:
            found.add(inner)
    if isinstance(tree, (tuple, list)):
        for t in tree:
            addressed(t, found)
    return found


def root(e):
    """The variable of which an expression is the whole or a member, or None."""
    while e[0] == "member":
        e = e[2]
    return e[2] if e[0] == "name" else None


def mentions(tree, found):
    """Names that statements or expressions of C read."""
    if isinstance(tree, tuple) and tree and tree[0] == "name":
        found.add(tree[2])
    if isinstance(tree, (tuple, list)):
        for t in tree:
            mentions(t, found)
    return found


def unused(tree):
    """The (name, place) of each variable that is declared, and not named again."""
    declared = {}
    _declarations(tree, declared)
    named = mentions(tree, set())
    return [(name, place) for name, place in declared.items() if name not in named]


def _declarations(tree, found):
    if isinstance(tree, tuple) and tree and tree[0] == "declare":
        found.update((name, place) for _, name, _, place in tree[2])
    if isinstance(tree, (tuple, list)):
        for t in tree:
            _declarations(t, found)


def is_simple(tree):
    """Whether an expression reads names and numbers only."""
    if tree[0] in ("number", "name"):
        return True
    if tree[0] in ("binary", "unary"):
        return tree[2] not in ("*&" if tree[0] == "unary" else ()) and all(
            is_simple(t) for t in tree[3:]
        )
    if tree[0] == "member":
        return tree[2][0] == "name" and tree[2][2] in INDICES
    return tree[0] == "cast" and is_simple(tree[3])


def flat(statements):
    """The statements, and those in blocks and branches among them."""
    for s in statements:
        if s is None:
            continue
        yield s
        if s[0] == "block":
            yield from flat(s[2])
        elif s[0] == "if":
            yield from flat([s[3], s[4]])


def flatten_list(value, extents, out):
    """Appends the items of a list of values, in order, with None for those that are left out."""
    if value[0] != "list" or not extents:
        out.append(value)
        return
    size = int(np.prod(extents[1:], dtype=np.int64)) if len(extents) > 1 else 1
    for item in value[2]:
        before = len(out)
        flatten_list(item, extents[1:], out)
        if item[0] == "list":
            out += [None] * (size - (len(out) - before))
