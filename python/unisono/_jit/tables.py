"""Flattens dicts and sets: displays, comprehensions, calls of the classes, ``del d[key]``."""

from __future__ import annotations

import ast

from .desugar import Known, Let, _assign, _at, _call, _name


class Tables:
    """Forms of dicts and sets; ``node``, ``expression`` and ``fresh`` are the flattener's."""

    def expression_Dict(self, e):
        if any(k is None for k in e.keys):
            return self.expression(self.dict_with_stars(e))
        pairs = zip(e.keys, e.values, strict=True)
        return self.node(e, "Dict", [self.expression(x) for pair in pairs for x in pair])

    def expression_Set(self, e):
        if any(isinstance(i, ast.Starred) for i in e.elts):
            result = self.fresh("set")
            body = [_assign(_name(result, e, ast.Store()), _at(ast.Set(elts=[]), e))]
            for i in e.elts:
                is_star = isinstance(i, ast.Starred)
                more = _call("set", i, i.value) if is_star else i
                body.append(self.changed_by(i, result, "update" if is_star else "add", more))
            return self.expression(_at(Let(body=body, value=_name(result, e)), e))
        return self.node(e, "Set", map(self.expression, e.elts))

    def dict_with_stars(self, e):
        """``{**a, "k": b}`` as a dict that is updated and stored into."""
        result = self.fresh("dict")
        empty = _at(ast.Dict(keys=[], values=[]), e)
        body = [_assign(_name(result, e, ast.Store()), empty)]
        for key, value in zip(e.keys, e.values, strict=True):
            if key is None:
                body.append(self.changed_by(value, result, "update", value))
                continue
            target = ast.Subscript(value=_name(result, e), slice=key, ctx=ast.Store())
            body.append(_at(ast.Assign(targets=[_at(target, value)], value=value), value))
        return _at(Let(body=body, value=_name(result, e)), e)

    def expression_DictComp(self, e):
        return self.expression(self.filled_dict(e))

    def filled_dict(self, e):
        """A dict comprehension as a dict that loops store into."""
        result, key, before = self.fresh("dict"), e.key, []
        if not isinstance(key, (ast.Name, ast.Constant)):  # evaluated before the value
            key = _name(self.fresh("key"), e)
            before = [_assign(_name(key.id, e, ast.Store()), e.key)]
        target = ast.Subscript(value=_name(result, e), slice=key, ctx=ast.Store())
        store = _at(ast.Assign(targets=[_at(target, e)], value=e.value), e)
        return self.filled(e, result, ast.Dict(keys=[], values=[]), [*before, store])

    def expression_SetComp(self, e):
        return self.expression(self.filled_set(e))

    def filled_set(self, e):
        """A set comprehension as a set that loops add to."""
        result = self.fresh("set")
        add = _at(ast.Attribute(value=_name(result, e), attr="add", ctx=ast.Load()), e)
        call = _at(ast.Call(func=add, args=[e.elt], keywords=[]), e)
        return self.filled(e, result, ast.Set(elts=[]), [_at(ast.Expr(value=call), e)])

    def filled(self, e, result, empty, store):
        """An empty one that the comprehension's loops fill."""
        body = self.generated(e, e.generators, store)
        body = [_assign(_name(result, e, ast.Store()), _at(empty, e)), *body]
        return _at(Let(body=body, value=_name(result, e)), e)

    def table_call(self, e):
        """dict(...) and set(...) as displays and comprehensions, or None where they stay calls."""
        name = self.builtin(e)
        if hasattr(e, "is_copy"):
            return None
        if name not in ("dict", "set") or any(isinstance(a, ast.Starred) for a in e.args):
            return None
        if name == "dict" and all(k.arg for k in e.keywords) and not e.args:
            keys = [_at(ast.Constant(value=k.arg), k.value) for k in e.keywords]
            return _at(ast.Dict(keys=keys, values=[k.value for k in e.keywords]), e)
        if e.keywords or len(e.args) > 1:
            return None
        if not e.args:
            return _at(ast.Set(elts=[]), e)
        (given,) = e.args
        generated = isinstance(given, (ast.GeneratorExp, ast.ListComp))
        if name == "set":
            if generated:
                return _at(ast.SetComp(elt=given.elt, generators=given.generators), e)
            loop = ast.comprehension(
                target=_name(self.fresh("v"), e, ast.Store()), iter=given, ifs=[], is_async=0
            )
            return _at(ast.SetComp(elt=_name(loop.target.id, e), generators=[loop]), e)
        if generated and isinstance(given.elt, ast.Tuple) and len(given.elt.elts) == 2:
            key, value = given.elt.elts
            return _at(ast.DictComp(key=key, value=value, generators=given.generators), e)
        if name == "dict" and isinstance(given, (ast.Name, ast.Attribute)):
            return self.dict_of(e, given)
        is_display = generated or isinstance(given, (ast.List, ast.Tuple))
        if is_display or self.builtin(given) in ("zip", "enumerate", "sorted", "map"):
            return self.dict_of_pairs(e, given)
        return None

    def dict_of_pairs(self, e, given):
        key, value = (_name(self.fresh("v"), e, ast.Store()) for _ in range(2))
        pair = _at(ast.Tuple(elts=[key, value], ctx=ast.Store()), e)
        loop = ast.comprehension(target=pair, iter=given, ifs=[], is_async=0)
        read = [_name(n.id, e) for n in (key, value)]
        return _at(ast.DictComp(key=read[0], value=read[1], generators=[loop]), e)

    def dict_of(self, e, given):
        """A copy of a dict, or a dict of pairs; which of both its type tells."""
        kind = _at(Known(id="dict", ctx=ast.Load()), e)
        test = _call("isinstance", e, given, kind)
        copy = _call("dict", e, given)
        copy.is_copy = True
        return _at(ast.IfExp(test=test, body=copy, orelse=self.dict_of_pairs(e, given)), e)

    def delete_item(self, t):
        index = t.slice
        call = _call("delete_item", t, t.value, index)
        return self.node(t, "Evaluate", [self.expression(call)])
