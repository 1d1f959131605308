"""Flattens try, except, finally and raise."""

from __future__ import annotations

import ast
import builtins

from .. import _engine
from .._loaded import loaded
from .desugar import Known
from .namespaces import held_by


class Exceptions:
    """Statements of exceptions; ``node``, ``block`` and ``resolve`` are the flattener's."""

    def statement_Try(self, s):
        self.in_try += 1
        node = self.attempt(s)
        self.in_try -= 1
        return node

    def attempt(self, s):
        if s.finalbody:
            inner = s.body
            if s.handlers:
                plain = ast.Try(body=s.body, handlers=s.handlers, orelse=s.orelse, finalbody=[])
                inner = [ast.copy_location(plain, s)]
            return self.node(s, "Finally", [self.block(inner), self.block(s.finalbody)])
        handlers = [self.handler(h) for h in s.handlers]
        odd = next((h for h in handlers if h[0] == "Unsupported"), None)
        return odd or self.node(s, "Try", [self.block(s.body), self.block(s.orelse), *handlers])

    def handler(self, h):
        types = h.type.elts if isinstance(h.type, ast.Tuple) else [h.type] if h.type else []
        names = []
        for t in types:
            name = self.exception_class(t)
            if name is None:
                return self.unsupported(
                    t,
                    f"catching {ast.unparse(t)}",
                    "catch built-in exceptions, such as ValueError, or classes derived from them",
                )
            names.append(name)
        return self.node(h, "Handler", [self.block(h.body)], h.name or "", " ".join(names) or None)

    def class_name(self, e):
        """``type(x).__name__``, or of ``x.__class__``, as a node, or None."""
        if e.attr not in ("__name__", "__qualname__"):
            return None
        found, value = self.resolve(e.value)
        if found and callable(value) and isinstance(getattr(value, e.attr, None), str):
            return self.node(e, "Text", text=getattr(value, e.attr))
        given = None
        if self.builtin(e.value) == "type" and len(e.value.args) == 1:
            given = e.value.args[0]
        elif isinstance(e.value, ast.Attribute) and e.value.attr == "__class__":
            given = e.value.value
        if given is None:
            return None
        function = self.node(e, "Builtin", text="class_name")
        return self.node(e, "Call", [function, self.expression(given)])

    def is_exception(self, e):
        """``isinstance(x, ValueError)`` as a node, or None."""
        if self.builtin(e) != "isinstance" or len(e.args) != 2 or e.keywords:
            return None
        given, kinds = e.args
        names = [None if isinstance(k, Known) else self.exception_class(k) for k in _kinds(kinds)]
        if not names or not all(names):
            return None
        text = self.node(kinds, "Text", text=" ".join(names))
        function = self.node(e, "Builtin", text="is_exception")
        return self.node(e, "Call", [function, self.expression(given), text])

    def exception_class(self, e):
        """The engine's name of the exception that an expression stands for, or None."""
        if isinstance(e, Known):
            return e.id
        found, value = self.resolve(e)
        known = found and isinstance(value, type) and issubclass(value, BaseException)
        if known and not _is_built_in(value):
            self.guards.append(self.place_of(e, value))
        return engine_name(value) if known else None

    def place_of(self, e, value):
        """Where a later call must still find the class."""
        if isinstance(e, ast.Attribute):
            return held_by(self.resolve(e.value)[1]), e.attr, value
        if e.id in self.imported:
            return self.imported, e.id, value
        scope = self.function.__globals__
        return (self.cells[e.id] if e.id in self.cells else scope), e.id, value

    def statement_Raise(self, s):
        cause = s.cause
        is_plain = cause is None or isinstance(cause, (ast.Constant, ast.Name))
        if s.exc is None:
            return self.node(s, "Raise")
        call = s.exc if isinstance(s.exc, ast.Call) else None
        name = call.func if call else s.exc
        if isinstance(name, ast.Name) and name.id in self.locals and not call:
            return self.node(s, "Raise", [self.expression(name)])
        odd = not isinstance(name, (ast.Name, ast.Attribute)) or not is_plain
        starred = call and any(isinstance(a, ast.Starred) for a in call.args)
        if odd or (call and (call.keywords or starred)):
            return self.unsupported(s, "this form of raise", 'write raise ValueError("text")')
        children = [self.expression(a) for a in call.args] if call else []
        return self.node(s, "Raise", children, self.exception_class(name) or ast.unparse(name))


def _kinds(e):
    return e.elts if isinstance(e, ast.Tuple) else [e]


def _is_built_in(cls):
    return getattr(builtins, cls.__name__, None) is cls


def engine_name(cls):
    """How compiled code calls an exception: Python's own by their names."""
    if _is_built_in(cls) or cls is getattr(loaded("numpy.linalg"), "LinAlgError", None):
        return cls.__name__
    bases = tuple(engine_name(b) for b in cls.__bases__ if issubclass(b, BaseException))
    return _engine._exception(cls, bases)
