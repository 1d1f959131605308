"""Rewrites getattr and hasattr of names that are known when compiling."""

from __future__ import annotations

import ast
import types

from .desugar import Known, Let, _assign, _at, _call, _constant, _name, _tuple


def attribute_call(flattener, e):
    """``getattr(x, "name")``, with a default too, and ``hasattr(x, "name")`` in simpler expressions, or None."""
    called = flattener.builtin(e)
    if called not in ("getattr", "hasattr") or e.keywords or not 2 <= len(e.args) <= 3:
        return None
    owner, named, *default = e.args
    is_name, name = flattener.resolve(named)
    name = named.value if isinstance(named, ast.Constant) else name if is_name else None
    if not isinstance(name, str) or (called == "hasattr" and default):
        return None
    found, value = flattener.resolve(owner)
    is_module = found and isinstance(value, types.ModuleType)
    if called == "hasattr":
        return _constant(hasattr(value, name), e) if is_module else _has(owner, name, e)
    if not default:
        return _at(ast.Attribute(value=owner, attr=name, ctx=ast.Load()), e)
    if is_module:
        member = _at(ast.Attribute(value=owner, attr=name, ctx=ast.Load()), e)
        return member if hasattr(value, name) else default[0]
    # The owner is evaluated once, as is the default, which Python evaluates in every case.
    held = flattener.fresh("v"), flattener.fresh("v")
    given = [
        _assign(_name(n, e, ast.Store()), v) for n, v in zip(held, (owner, *default), strict=True)
    ]
    owner, otherwise = (_name(n, e) for n in held)
    member = _at(ast.Attribute(value=owner, attr=name, ctx=ast.Load()), e)
    chosen = ast.IfExp(test=_has(owner, name, e), body=member, orelse=otherwise)
    return _at(Let(body=given, value=_at(chosen, e)), e)


def _has(owner, name, e):
    import numpy as np

    # What isinstance tells apart when compiling, beside the classes of the program.
    plain = (int, float, bool, complex, str, bytes, list, tuple, dict, set, range)
    classes = {cls.__name__: cls for cls in plain}
    classes |= {"np.ndarray": np.ndarray, "np.integer": np.int64, "np.floating": np.float64}
    kinds = [
        _at(Known(id=kind, ctx=ast.Load()), e)
        for kind, cls in classes.items()
        if hasattr(cls, name)
    ]
    return _call("has_attribute", e, owner, _constant(name, e), _tuple(e, *kinds))
