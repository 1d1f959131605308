"""``functools.cache`` and ``lru_cache`` of functions inside: a dict of results by the arguments."""

from __future__ import annotations

import ast
import functools

from .desugar import _assign, _at, _name
from .source import names_of, read_function

_Wrapper = type(functools.cache(lambda: None))


class Memo:
    """``resolve`` and ``fresh`` are the flattener's."""

    def is_cache(self, e):
        """Whether a decorator keeps all results: cache, lru_cache(None), lru_cache(maxsize=None)."""
        call = isinstance(e, ast.Call)
        found, value = self.resolve(e.func if call else e)
        if not found or (value is not functools.cache and value is not functools.lru_cache):
            return False
        given = [*e.args, *(k.value for k in e.keywords)] if call else []
        return len(given) <= 1 and all(isinstance(g, ast.Constant) for g in given)

    def with_remembered(self, body):
        """The statements behind functions of lru_cache that they call: each call of ours has results of its own."""
        made, waiting = {}, [self.function]
        scope = self.function.__globals__
        while waiting:
            for name in names_of(waiting.pop().__code__):
                value = None if name in self.locals else scope.get(name)
                if type(value) is not _Wrapper or name in made:
                    continue
                function = getattr(value, "__wrapped__", None)
                is_here = getattr(function, "__globals__", None) is scope
                if is_here and function.__name__ == name and function.__closure__ is None:
                    self.guard(scope, name, value)
                    made[name] = read_function(function)[0]
                    waiting.append(function)
        self.locals |= set(made)
        return [*made.values(), *body]

    def remembered(self, s):
        """The dict and the function that looks into it first, or None where it may end without a return."""
        names = [a.arg for a in (*s.args.posonlyargs, *s.args.args, *s.args.kwonlyargs)]
        if s.args.vararg or s.args.kwarg or not names or not _always_returns(s.body):
            return None
        memo, result = self.fresh("memo"), self.fresh("result")
        parts = [_name(n, s) for n in names]
        rebound = {
            n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if rebound & set(names):
            return None
        key = parts[0] if len(parts) == 1 else _at(ast.Tuple(elts=parts, ctx=ast.Load()), s)
        item = lambda ctx: _at(ast.Subscript(value=_name(memo, s), slice=key, ctx=ctx), s)  # noqa: E731
        known = _at(ast.Compare(left=key, ops=[ast.In()], comparators=[_name(memo, s)]), s)
        found = _at(
            ast.If(test=known, body=[_at(ast.Return(value=item(ast.Load())), s)], orelse=[]), s
        )
        body = _Stored(item, result).block(s.body)
        made = ast.FunctionDef(
            name=s.name, args=s.args, body=[found, *body], decorator_list=[], returns=s.returns
        )
        empty = _at(ast.Dict(keys=[], values=[]), s)
        return [_assign(_name(memo, s, ast.Store()), empty), _at(made, s)]


def _always_returns(body):
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


class _Stored(ast.NodeTransformer):
    """Each result is stored before it is returned."""

    def __init__(self, item, result):
        self.item, self.result = item, result

    def block(self, body):
        made = []
        for s in body:
            new = self.visit(s)
            made += new if isinstance(new, list) else [new]
        return made

    def visit_FunctionDef(self, s):
        return s

    visit_Lambda = visit_FunctionDef

    def visit_Return(self, s):
        value = s.value or ast.copy_location(ast.Constant(value=None), s)
        kept = _assign(_name(self.result, s, ast.Store()), value)
        store = _at(ast.Assign(targets=[self.item(ast.Store())], value=_name(self.result, s)), s)
        return [kept, store, _at(ast.Return(value=_name(self.result, s)), s)]
