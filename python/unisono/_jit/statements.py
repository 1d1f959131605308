"""Flattens statements."""

from __future__ import annotations

import ast

from .desugar import Known, _at, _call, _call_of, _copied
from .expressions import BINARY
from .walks import Visitors

_STATEMENTS = Visitors("statement_")

_UPDATES = {
    "intersection_update": "&",
    "difference_update": "-",
    "symmetric_difference_update": "^",
}


class Statements:
    """``node``, ``expression`` and ``unsupported`` are the flattener's."""

    def statement(self, s):
        method = getattr(self, _STATEMENTS[s.__class__], None)
        return method(s) if method else self.unsupported(s)

    def statement_Assign(self, s):
        one = s.targets[0] if len(s.targets) == 1 else None
        if isinstance(s.value, ast.Lambda) and isinstance(one, ast.Name):
            node = self.closure(s.value, s.value, "<lambda>", one.id)
            return self.node(s, "Assign", [self.expression(one), node])
        return self.node(s, "Assign", [*map(self.expression, s.targets), self.expression(s.value)])

    def statement_AnnAssign(self, s):
        spec = self.annotation(s.annotation)
        if spec is not None and isinstance(s.target, ast.Name):
            self.local_types[s.target.id] = spec
        if s.value is None:
            return self.node(s, "Pass")
        return self.node(s, "Assign", [self.expression(s.target), self.expression(s.value)])

    def divides_as_c(self, s):
        is_division = isinstance(s, ast.AugAssign) and isinstance(s.op, (ast.FloorDiv, ast.Mod))
        return is_division and self.options.get("cdivision")

    def divided_as_c(self, s):
        """``x //= y`` of numbers by an assignment; arrays change in place, as NumPy divides."""
        before = []
        target = self.evaluated_once(s.target, before)
        old = _copied(target)
        old.ctx = ast.Load()
        value = ast.BinOp(left=old, op=s.op, right=s.value)
        number = self.node(s, "Assign", [self.expression(target), self.expression(_at(value, s))])
        if not isinstance(s.target, ast.Name):
            return [*(n for b in before for n in self.statements(b)), number]
        test = _call("isinstance", s, old, _at(Known(id="np.ndarray", ctx=ast.Load()), s))
        blocks = [self.node(s, "Block", [n]) for n in (self.statement(s), number)]
        return [self.node(s, "If", [self.expression(test), *blocks])]

    def evaluated_once(self, e, before):
        """The target with what calls are in it in front, so that it can be read and assigned."""
        if any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(e)):
            return self.with_kept_parts(e, before)
        return e

    def with_kept_parts(self, e, before):
        is_made_of_parts = isinstance(e, (ast.Subscript, ast.Attribute, ast.Slice, ast.Tuple))
        if not is_made_of_parts:
            return self.kept(e, before, "v")
        made = _copied(e)
        for field, value in ast.iter_fields(e):
            if isinstance(value, list):
                value = [self.with_kept_parts(v, before) for v in value]
            elif isinstance(value, ast.expr):
                value = self.with_kept_parts(value, before)
            setattr(made, field, value)
        return made

    def statement_AugAssign(self, s):
        children = [self.expression(s.target), self.expression(s.value)]
        return self.node(s, "AugAssign", children, BINARY[type(s.op)])

    def statement_For(self, s):
        s.iter.is_counted = True
        children = [self.expression(s.target), self.expression(s.iter), self.block(s.body)]
        return self.node(s, "For", [*children, *self.otherwise(s)])

    def statement_While(self, s):
        children = [self.expression(s.test), self.block(s.body), *self.otherwise(s)]
        return self.node(s, "While", children)

    def otherwise(self, s):
        return [self.block(s.orelse)] if s.orelse else []

    def statement_If(self, s):
        children = [self.expression(s.test), self.block(s.body), self.block(s.orelse)]
        return self.node(s, "If", children)

    def statement_Return(self, s):
        is_none = s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None)
        if self.written:
            none = ast.copy_location(ast.Constant(value=None), s)
            value = self.written_result(s, none if is_none else s.value)
            return self.node(s, "Return", [self.expression(value)])
        return self.node(s, "Return", [] if is_none else [self.expression(s.value)])

    def statement_Break(self, s):
        return self.node(s, "Break")

    def statement_Continue(self, s):
        return self.node(s, "Continue")

    def statement_Pass(self, s):
        return self.node(s, "Pass")

    def statement_With(self, s):
        call = s.items[0].context_expr
        if len(s.items) == 1 and s.items[0].optional_vars is None and isinstance(call, ast.Call):
            from . import parallel, python

            found, value = self.resolve(call.func)
            if found and value is python and not call.args and not call.keywords:
                return self.python_block(s)
            plain = self.numba_with(s, call)
            if plain is not None:
                return plain
            threads = [*call.args, *(k.value for k in call.keywords)]
            named = all(k.arg == "num_threads" for k in call.keywords)
            if found and value is parallel and len(threads) <= 1 and named:
                none = ast.copy_location(ast.Constant(value=None), s)
                count = self.expression(threads[0] if threads else none)
                self.in_region += 1
                body = self.block(s.body)
                self.in_region -= 1
                return self.node(s, "Region", [count, body])
        return self.unsupported(s)

    def statement_Expr(self, s):
        choice = s.value
        if isinstance(choice, ast.IfExp):
            parts = [[_at(ast.Expr(value=v), v)] for v in (choice.body, choice.orelse)]
            return self.statement(_at(ast.If(test=choice.test, body=parts[0], orelse=parts[1]), s))
        call = s.value
        f = call.func if isinstance(call, ast.Call) else None
        if isinstance(f, ast.Attribute) and f.attr in _UPDATES and isinstance(f.value, ast.Name):
            if len(call.args) == 1 and not call.keywords and not self.resolve(f)[0]:
                from .set_library import as_set

                (given,) = call.args
                if not isinstance(given, (ast.Set, ast.SetComp)):
                    given = self.as_list(given) if self.is_lazy(given) else given
                    given = _call_of(as_set, given, given)
                children = [self.expression(f.value), self.expression(given)]
                return self.node(s, "AugAssign", children, _UPDATES[f.attr])
        return self.node(s, "Evaluate", [self.expression(s.value)])

    def statement_Delete(self, s):
        (t,) = s.targets
        if isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Slice):
            return self.delete_item(t)
        is_slice = isinstance(t, ast.Subscript) and not self.is_kernel
        if not isinstance(t, ast.Name) and not is_slice:
            return self.unsupported(t, "del of anything but a name or an item", "leave it out")
        return self.node(s, "Delete", [self.expression(t)])

    def statement_Assert(self, s):
        children = [self.expression(s.test)]
        if s.msg is not None:
            children.append(self.expression(s.msg))
        return self.node(s, "Assert", children)
