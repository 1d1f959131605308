"""Import statements inside of compiled functions: done when the function is compiled."""

from __future__ import annotations

import ast
import sys

from .namespaces import held_by
from .walks import own_nodes


class Imports:
    """``imported`` holds what such statements bind; ``lines``, ``node``, ``guard`` and ``unsupported`` are the flattener's."""

    def read_imports(self, body):
        """Import what the statements of this function name, and take those names from its variables."""
        self.imported = {}
        if "import" not in self.text:
            return
        scope = self.function.__globals__
        assigned = set()
        nodes = own_nodes(body)
        for n in nodes:
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                assigned.add(n.id)
        for n in nodes:
            try:
                if isinstance(n, ast.Import):
                    self.imported.update(_modules(n))
                elif isinstance(n, ast.ImportFrom):
                    self.imported.update(self.names_of(n, scope))
            except ImportError:
                continue  # the statement is refused where it stands
        for name in assigned:  # such a name is a variable
            self.imported.pop(name, None)
        self.locals -= set(self.imported)

    def names_of(self, s, scope):
        module = __import__(s.module or "", scope, None, [a.name for a in s.names], s.level)
        for a in s.names:
            value = getattr(module, a.name, self)
            if value is self:
                raise ImportError(a.name)
            self.guard(held_by(module), a.name, value)
            yield a.asname or a.name, value

    def statement_Import(self, s):
        bound = [a.asname or a.name.split(".")[0] for a in s.names]
        if all(name in self.imported for name in bound):
            return self.node(s, "Pass")
        return self.unsupported(s)

    statement_ImportFrom = statement_Import


def _modules(s):
    for a in s.names:
        top = __import__(a.name)
        if a.asname:
            yield a.asname, sys.modules[a.name]
        else:
            yield a.name.split(".")[0], top
