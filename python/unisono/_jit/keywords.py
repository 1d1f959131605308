"""Keyword arguments whose names are known when compiling: ``**kw`` of a function, ``**d`` in a call."""

from __future__ import annotations

import ast
import inspect

from .containers import Refused
from .desugar import Known, Let, Value, _at, _constant, _copied, _name, _tuple
from .resumed_generators import CHANGES

_TAKES_ANY = inspect.CO_VARKEYWORDS


def takes_any(function):
    """Whether a Python function has a parameter ``**names``."""
    return bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & _TAKES_ANY)


def own_name(name):
    """The parameter that holds the keyword argument `name` of a function with ``**names``."""
    return f"__kw_{name}"


def extra_names(function, given):
    """Those of the names given that are none of the function's own parameters."""
    code = function.__code__
    own = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return tuple(n for n in given if n not in own)


class Keywords:
    """``resolve``, ``guard`` and ``locals`` are the flattener's."""

    def named_parameters(self, args):
        """Keyword arguments behind the parameters that have names: one parameter each."""
        names = self.options.get("keywords", ()) if self.around is None else ()
        made = [ast.arg(arg=own_name(n), annotation=None) for n in names]
        self.locals |= {a.arg for a in made}
        return made

    def with_named_keywords(self, body, args):
        """The statements, in which the parameters stand for what ``**names`` holds."""
        names = self.options.get("keywords", ()) if self.around is None else ()
        rewriter = _Named(args.kwarg.arg, names)
        return [rewriter.visit(_copied(s)) for s in body]

    def named_call(self, e):
        """A call with ``**d`` of known names, or of a function that has ``**names``; None for any other."""
        if any(k.arg is None for k in e.keywords):
            keywords = self.spread_keywords(e)
            return keywords and _at(ast.Call(func=e.func, args=e.args, keywords=keywords), e)
        if not e.keywords:
            return None
        found, value = self.resolve(e.func)
        made = found and not isinstance(value, type) and self.compiled_form(value)
        function = getattr(made, "py_func", None)
        if not takes_any(function) or "keywords" in getattr(made, "_options_given", {}):
            return None
        more = extra_names(function, [k.arg for k in e.keywords])
        if not more:
            return None
        keywords = [
            _at(ast.keyword(arg=own_name(k.arg) if k.arg in more else k.arg, value=k.value), k)
            for k in e.keywords
        ]
        variant = _at(Value(value=made._with_keywords(more), ctx=ast.Load()), e)
        return _at(ast.Call(func=variant, args=e.args, keywords=keywords), e)

    def spread_keywords(self, e):
        """The keywords of a call, ``**d`` one by one; None where their names are not known."""
        made = []
        for k in e.keywords:
            if k.arg is not None:
                made.append(k)
                continue
            pairs = self.known_pairs(k.value)
            if pairs is None:
                return None
            made += [_at(ast.keyword(arg=name, value=v), k.value) for name, v in pairs]
        return made

    def known_pairs(self, e):
        """Names and values of a dict that is written, or captured, with texts as keys; else None."""
        if isinstance(e, ast.Dict):
            keys = [getattr(k, "value", None) for k in e.keys]
            is_known = all(isinstance(k, str) for k in keys)
            return list(zip(keys, e.values, strict=True)) if is_known else None
        if self.builtin(e) == "dict" and not e.args and all(k.arg for k in e.keywords):
            return [(k.arg, k.value) for k in e.keywords]
        if isinstance(e, ast.Name) and e.id in self.locals:
            return self.pairs_of_name(e)
        found, value = self.resolve(e)
        if not found or type(value) is not dict or not all(isinstance(k, str) for k in value):
            return None
        self.guards.append(self.place_of(e, value))
        self.guards.append((value, None, len(value)))
        pairs = []
        for key, held in value.items():
            self.guard(value, key, held)
            pairs.append((key, _at(Value(value=held, ctx=ast.Load()), e)))
        return pairs

    def pairs_of_name(self, e):
        """As known_pairs: a name that is given a written dict once, of which then only items are read."""
        nodes = list(ast.walk(self.definition))
        uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == e.id]
        given = [
            n.value
            for n in nodes
            if isinstance(n, ast.Assign)
            and any(t in uses for t in n.targets)
            and len(n.targets) == 1
        ]
        stored = [n for n in uses if not isinstance(n.ctx, ast.Load)]
        reads = [
            n.value for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)
        ]
        reads += [
            k.value for n in nodes if isinstance(n, ast.Call) for k in n.keywords if not k.arg
        ]
        is_read = all(any(n is r for r in reads) for n in uses if n not in stored)
        if len(given) != 1 or len(stored) != 1 or not is_read:
            return None
        pairs = self.known_pairs(given[0])
        at = lambda k: ast.Subscript(value=_name(e.id, e), slice=_constant(k, e), ctx=ast.Load())  # noqa: E731
        return pairs and [(k, _at(at(k), e)) for k, _ in pairs]


class _Named(ast.NodeTransformer):
    """Writes the uses of ``**names`` with the parameters that hold them."""

    def __init__(self, rest, names):
        self.rest, self.names = rest, names

    def is_rest(self, e):
        return isinstance(e, ast.Name) and e.id == self.rest and isinstance(e.ctx, ast.Load)

    def held(self, name, at):
        return _name(own_name(name), at)

    def pair(self, name, at):
        return _tuple(at, _constant(name, at), self.held(name, at))

    def at_key(self, e, key, default=None):
        """The argument of that name; without a default a missing one raises KeyError."""
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        if key.value in self.names:
            return self.held(key.value, e)
        if default is not None:
            return self.visit(default)
        error = _at(Known(id="KeyError", ctx=ast.Load()), e)
        raised = _at(ast.Call(func=error, args=[key], keywords=[]), e)
        return _at(Let(body=[_at(ast.Raise(exc=raised, cause=None), e)], value=_constant(0, e)), e)

    def refused(self, e):
        what = f"changing '**{self.rest}'"
        return _at(
            Refused(what=what, advice="give what you take from it a parameter of its own"), e
        )

    def visit_Assign(self, s):
        for t in (n for target in s.targets for n in ast.walk(target)):
            if isinstance(t, ast.Subscript) and self.is_rest(t.value):
                return _at(ast.Expr(value=self.refused(s)), s)
        return self.generic_visit(s)

    def visit_AugAssign(self, s):
        if isinstance(s.target, ast.Subscript) and self.is_rest(s.target.value):
            return _at(ast.Expr(value=self.refused(s)), s)
        return self.generic_visit(s)

    def visit_Delete(self, s):
        if any(isinstance(t, ast.Subscript) and self.is_rest(t.value) for t in s.targets):
            return _at(ast.Expr(value=self.refused(s)), s)
        return s

    def visit_Subscript(self, e):
        found = self.at_key(e, e.slice) if self.is_rest(e.value) else None
        return found or self.generic_visit(e)

    def visit_Compare(self, e):
        is_in = len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn))
        if is_in and self.is_rest(e.comparators[0]) and isinstance(e.left, ast.Constant):
            return _constant((e.left.value in self.names) == isinstance(e.ops[0], ast.In), e)
        return self.generic_visit(e)

    def visit_Call(self, e):
        f = e.func
        if isinstance(f, ast.Attribute) and self.is_rest(f.value) and f.attr in CHANGES:
            return self.refused(e)
        if isinstance(f, ast.Attribute) and self.is_rest(f.value) and not e.keywords:
            if f.attr == "get" and len(e.args) in (1, 2):
                default = e.args[1] if len(e.args) == 2 else _constant(None, e)
                found = self.at_key(e, e.args[0], default)
                if found is not None:
                    return found
            if f.attr == "items" and not e.args:
                return _tuple(e, *(self.pair(n, e) for n in self.names))
            if f.attr == "values" and not e.args:
                return _tuple(e, *(self.held(n, e) for n in self.names))
            if f.attr == "keys" and not e.args:
                return _tuple(e, *(_constant(n, e) for n in self.names))
        if isinstance(f, ast.Name) and f.id == "len" and len(e.args) == 1:
            if self.is_rest(e.args[0]):
                return _constant(len(self.names), e)
        keywords = []
        for k in e.keywords:
            if k.arg is None and self.is_rest(k.value):
                keywords += [
                    _at(ast.keyword(arg=n, value=self.held(n, k.value)), k.value)
                    for n in self.names
                ]
            else:
                keywords.append(self.visit(k))
        e.func, e.args, e.keywords = self.visit(f), [self.visit(a) for a in e.args], keywords
        return e

    def test(self, e):
        return _constant(bool(self.names), e) if self.is_rest(e) else self.visit(e)

    def visit_If(self, s):
        s.test = self.test(s.test)
        s.body, s.orelse = [self.visit(b) for b in s.body], [self.visit(b) for b in s.orelse]
        return s

    def visit_UnaryOp(self, e):
        e.operand = self.test(e.operand) if isinstance(e.op, ast.Not) else self.visit(e.operand)
        return e

    def visit_For(self, s):
        if self.is_rest(s.iter):
            s.iter = _tuple(s.iter, *(_constant(n, s.iter) for n in self.names))
        s = self.generic_visit(s)
        if isinstance(s.iter, ast.Tuple) and not s.iter.elts:  # what never runs has no types
            return _at(
                ast.If(test=_constant(True, s), body=s.orelse or [_at(ast.Pass(), s)], orelse=[]), s
            )
        return s

    def visit_Name(self, e):
        if not self.is_rest(e):
            return e
        keys = [_constant(n, e) for n in self.names]
        return _at(ast.Dict(keys=keys, values=[self.held(n, e) for n in self.names]), e)
