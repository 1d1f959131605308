"""Tells whether code that an import hook made differs from its source only where the hook rewrote it.

Hooks that change modules while they are imported (to explain assertions, to check types) leave code that
the source does not compile to. What they insert stands beside what the source has: parameters, names,
constants and the places of names stay.
"""

from __future__ import annotations

import ast
import dis
import types


def is_made_of(function, text):
    """Whether the function may be what an import hook made of a definition in the text of its module."""
    if not text or not _has_own_loader(function.__globals__):
        return False
    code = function.__code__
    flags = code.co_flags & 0x1FE0000  # what `from __future__ import` left
    try:
        tree = ast.parse(text)
        plain = compile(tree, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    found = [c for c in _codes(plain) if _place(c) == _place(code)]
    return len(found) == 1 and _keeps(code, found[0]) and _names_stand(code, tree)


def _has_own_loader(scope):
    """Whether another loader than Python's own made the module."""
    loader = scope.get("__loader__") or getattr(scope.get("__spec__"), "loader", None)
    home = getattr(type(loader), "__module__", "").partition(".")[0]
    return loader is not None and home not in (
        "_frozen_importlib_external",
        "_frozen_importlib",
        "zipimport",
        "builtins",
    )


def _place(code):
    return code.co_name, code.co_firstlineno, code.co_argcount, code.co_kwonlyargcount


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _keeps(code, plain):
    """Whether code has all that the plain one has, and no other variables that a source could name."""
    given = plain.co_argcount + plain.co_kwonlyargcount
    variables = [n for n in (*code.co_varnames, *code.co_cellvars) if n.isidentifier()]
    constants = {(type(c), repr(c)) for c in code.co_consts}
    return (
        code.co_varnames[:given] == plain.co_varnames[:given]
        and set(variables) == {*plain.co_varnames, *plain.co_cellvars}
        and set(plain.co_names) <= set(code.co_names)
        and all(
            isinstance(c, types.CodeType) or (type(c), repr(c)) in constants
            for c in plain.co_consts
        )
    )


def _names_stand(code, tree):
    """Whether instructions that stand where the source has a name read or write that name."""
    names = {
        (n.lineno, n.col_offset, n.end_col_offset): n.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Name)
    }
    for instruction in dis.get_instructions(code):
        p = instruction.positions
        name = names.get((p.lineno, p.col_offset, p.end_col_offset)) if p else None
        held = instruction.argval
        if name is not None and isinstance(held, str) and held.isidentifier() and held != name:
            return False
    return True
