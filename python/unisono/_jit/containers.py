"""Rewrites what a function does with the deques, defaultdicts, Counters and OrderedDicts that it makes.

A name that is bound to nothing else stands for a list or a dict instead, and each use of it is written
with those: ``d[k]`` of a defaultdict as ``d.setdefault(k, [])``. A use that would tell the difference,
as an argument of another function would, is refused.
"""

from __future__ import annotations

import ast
import collections

from .desugar import Let, Value, _assign, _at, _call, _constant, _copied, _name

_MAKERS = ("Counter", "OrderedDict", "defaultdict", "deque")
# Methods that are those of the list or dict, by the kind of container.
_SAME = {
    "deque": {"append", "clear", "count", "extend", "index", "insert", "remove", "reverse"},
    "defaultdict": {"clear", "get", "items", "keys", "pop", "popitem", "setdefault", "values"},
}
_SAME["defaultdict"] |= {"update"}
_SAME["Counter"] = _SAME["defaultdict"] - {"update"}
_SAME["OrderedDict"] = _SAME["defaultdict"] - {"popitem"}
# Those of container_library.py.
_OWN = {
    "deque": {"append", "appendleft", "extend", "extendleft", "pop", "popleft", "rotate"},
    "defaultdict": set(),
    "Counter": {"elements", "most_common", "total"},
    "OrderedDict": {"move_to_end", "popitem"},
}
_RENAMED = {
    ("Counter", "update"): "count_items",
    ("Counter", "subtract"): "discount_items",
    ("deque", "append"): "append_right",
}
_BOUNDED = {"append", "appendleft", "extend", "extendleft"}
# Builtins that take what stands for the container as they take itself.
_TAKERS = frozenset(
    "all any bool dict enumerate filter iter len list map max min reversed set sorted sum tuple zip".split()
)


class _Kind:
    def __init__(self, name, factory=None, inner=None, maxlen=""):
        self.name = name
        self.factory = factory  # of a defaultdict: what a missing key gets
        self.inner = inner  # what that is, if it is such a container itself: a _Kind
        self.maxlen = maxlen  # the variable that holds it


class Refused(ast.expr):
    """A use that compiled code does not have."""

    _fields = ("what", "advice")


class Containers:
    """``resolve``, ``fresh`` and ``unsupported`` are the flattener's."""

    def expression_Refused(self, e):
        return self.unsupported(e, e.what, e.advice)

    def maker(self, e):
        """Which of the containers a call makes, or None."""
        if not isinstance(e, ast.Call) or any(isinstance(a, ast.Starred) for a in e.args):
            return None
        found, value = self.resolve(e.func)
        name = getattr(value, "__name__", "") if found else ""
        return name if name in _MAKERS and getattr(collections, name) is value else None

    def with_containers(self, body):
        """The statements, with lists and dicts in place of the containers that they make."""
        if not any(name in self.text for name in _MAKERS):
            return body
        body = _Parts(self.maker).block([_copied(s) for s in body])
        body = _Unnamed(self).block(body)
        made, bound = {}, collections.Counter()
        for n in (n for s in body for n in ast.walk(s)):
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                bound[n.id] += isinstance(n.ctx, ast.Store)
            if isinstance(n, ast.arg):
                bound[n.arg] += 1
            is_plain = isinstance(n, ast.Assign) and len(n.targets) == 1
            annotated = isinstance(n, ast.AnnAssign) and n.value is not None
            target = n.targets[0] if is_plain else n.target if annotated else None
            if isinstance(target, ast.Name) and self.maker(n.value):
                made.setdefault(target.id, []).append(n.value)
        kinds = {}
        for name, calls in made.items():
            found = [self.kind_of(c) for c in calls]
            if len(calls) == bound[name] and all(k == found[0] for k in found) and found[0]:
                kinds[name] = found[0]
        if not kinds:
            return body
        return _Rewriter(self, kinds).block([_copied(s) for s in body])

    def kind_of(self, call):
        """What the call makes, or None where it is not known when compiling."""
        name = self.maker(call)
        named = {k.arg: k.value for k in call.keywords}
        if name == "deque":
            bound = named.pop("maxlen", call.args[1] if len(call.args) > 1 else None)
            is_none = isinstance(bound, ast.Constant) and bound.value is None
            kind = _Kind(name, maxlen="" if bound is None or is_none else "maxlen")
            return None if named or len(call.args) > 2 else kind
        if named or len(call.args) > (2 if name == "defaultdict" else 1):
            return None
        if name != "defaultdict":
            return _Kind(name)
        if not call.args:
            return None
        factory = call.args[0]
        if isinstance(factory, ast.Lambda) and not factory.args.args:
            value = factory.body
            return _Kind(name, _Text(value), self.kind_of(value) if self.maker(value) else None)
        found, value = self.resolve(factory)
        empty = {int: "0", float: "0.0", str: "''", bool: "False", list: "[]", dict: "{}"}
        if found and value is set:
            return _Kind(name, _Text(ast.Set(elts=[])))
        if not found or not isinstance(value, type) or value not in empty:
            return None
        return _Kind(name, _Text(ast.parse(empty[value], mode="eval").body))


class _Text:
    """An expression, equal to those that read the same."""

    def __init__(self, tree):
        self.tree = tree

    def __eq__(self, other):
        return isinstance(other, _Text) and ast.dump(self.tree) == ast.dump(other.tree)

    def at(self, place):
        made = _copied(self.tree)
        for n in ast.walk(made):
            _at(n, place)
        return made


class Statements(ast.NodeTransformer):
    """Rewrites statements, one as several where need be."""

    def block(self, body):
        made = []
        for s in body:
            new = self.visit(s)
            made += new if isinstance(new, list) else [new]
        return made


class _Parts(Statements):
    """``queue, seen = deque(), set()`` as two statements, where no value reads a name that another gets."""

    def __init__(self, maker):
        self.maker = maker

    def visit_Assign(self, s):
        target, value = s.targets[0], s.value
        is_pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        if len(s.targets) > 1 or not is_pair or len(target.elts) != len(value.elts):
            return s
        names = [t.id for t in target.elts if isinstance(t, ast.Name)]
        read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        fits = len(set(names)) == len(target.elts) and not read & set(names)
        if not fits or not any(map(self.maker, value.elts)):
            return s
        return [
            _at(ast.Assign(targets=[t], value=v), s)
            for t, v in zip(target.elts, value.elts, strict=True)
        ]


class _Unnamed(Statements):
    """Gives Counters that no name holds a name: ``Counter(x).most_common(2)``."""

    def __init__(self, flattener):
        self.flattener = flattener

    def visit_FunctionDef(self, s):
        return s

    visit_Lambda = visit_FunctionDef

    def visit_Assign(self, s):
        if isinstance(s.targets[0], ast.Name) and self.flattener.maker(s.value):
            s.value.args = [self.visit(a) for a in s.value.args]
            return s
        return self.generic_visit(s)

    def visit_Call(self, e):
        self.generic_visit(e)
        owner = e.func.value if isinstance(e.func, ast.Attribute) else None
        if isinstance(owner, Let) and hasattr(owner, "is_container"):  # the call is of the name
            e.func.value, owner.value = owner.value, e
            del owner.is_container
            return owner
        given = e.args[0] if len(e.args) == 1 else None
        if hasattr(given, "is_container") and self.flattener.builtin(e) in _TAKERS:
            e.args[0], given.value = given.value, e
            del given.is_container
            return given
        if self.flattener.maker(e) != "Counter":
            return e
        name = self.flattener.fresh("counter")
        made = Let(body=[_assign(_name(name, e, ast.Store()), e)], value=_name(name, e))
        made.is_container = True
        return _at(made, e)


class _Rewriter(Statements):
    def __init__(self, flattener, kinds):
        self.flattener, self.kinds = flattener, kinds
        self.bounds = {}  # variables that hold maxlen

    def info(self, e):
        """The container that an expression, as it was written, stands for, or None."""
        if isinstance(e, ast.Name):
            return self.kinds.get(e.id)
        if isinstance(e, ast.Subscript):
            outer = self.info(e.value)
            return outer.inner if outer else None
        return None

    def library(self, at, name, *args):
        from . import container_library

        function = _at(Value(value=getattr(container_library, name), ctx=ast.Load()), at)
        return _at(ast.Call(func=function, args=list(args), keywords=[]), at)

    def method(self, at, owner, name, *args):
        f = _at(ast.Attribute(value=owner, attr=name, ctx=ast.Load()), at)
        return _at(ast.Call(func=f, args=list(args), keywords=[]), at)

    def held(self, e):
        """The container itself, where it is used as one."""
        return e if isinstance(e, ast.Name) else self.visit(e)

    # ---- making them
    def empty(self, call):
        """Statements are needed behind it where it comes with items: (the value, items or None)."""
        kind = self.flattener.maker(call)
        args = [self.visit(a) for a in call.args]
        if kind == "deque":
            given = args[0] if args else None
            if isinstance(given, ast.List) and not any(
                isinstance(i, ast.Starred) for i in given.elts
            ):
                return given, None
            stars = [_at(ast.Starred(value=given, ctx=ast.Load()), call)] if given else []
            return _at(ast.List(elts=stars, ctx=ast.Load()), call), None
        given = args[1:] if kind == "defaultdict" else args
        empty = _at(ast.Dict(keys=[], values=[]), call)
        if kind == "Counter" or not given:
            return empty, given[0] if given else None
        return self.named_dict(call, given[0]), None

    def named_dict(self, call, given):
        f = _at(Value(value=dict, ctx=ast.Load()), call)
        return _at(ast.Call(func=f, args=[given], keywords=[]), call)

    def visit_Assign(self, s):
        one = s.targets[0] if len(s.targets) == 1 else None
        kind = self.kinds.get(one.id) if isinstance(one, ast.Name) else None
        if kind is None or not self.flattener.maker(s.value):
            return self.generic_visit(s)
        value, items = self.empty(s.value)
        made = [_at(ast.Assign(targets=[one], value=value), s)]
        if items is not None:
            call = self.library(s, "count_items", _name(one.id, s), items)
            made.append(_at(ast.Expr(value=call), s))
        if kind.maxlen:
            call = s.value
            named = {k.arg: k.value for k in call.keywords}
            bound = self.bounds.setdefault(one.id, self.flattener.fresh("maxlen"))
            given = self.visit(named["maxlen"] if "maxlen" in named else call.args[1])
            made.insert(0, _assign(_name(bound, s, ast.Store()), given))
            over = _at(
                ast.Compare(
                    left=_call("len", s, _name(one.id, s)),
                    ops=[ast.Gt()],
                    comparators=[_name(bound, s)],
                ),
                s,
            )
            drop = _at(ast.Expr(value=self.library(s, "popleft", _name(one.id, s))), s)
            made.append(_at(ast.While(test=over, body=[drop], orelse=[]), s))
        return made

    def visit_AnnAssign(self, s):
        if isinstance(s.target, ast.Name) and s.target.id in self.kinds and s.value is not None:
            return self.visit_Assign(_at(ast.Assign(targets=[s.target], value=s.value), s))
        return self.generic_visit(s)

    # ---- using them
    def default(self, at, kind):
        if kind.name == "Counter":
            return _constant(0, at)
        if kind.inner:
            return _at(ast.Dict(keys=[], values=[]), at)
        return self.visit(kind.factory.at(at))

    def visit_Subscript(self, e):
        kind = self.info(e.value)
        if kind is None:
            return self.generic_visit(e)
        owner, key = self.held(e.value), self.visit(e.slice)
        if isinstance(e.ctx, ast.Load) and kind.name in ("Counter", "defaultdict"):
            name = "get" if kind.name == "Counter" else "setdefault"
            return self.method(e, owner, name, key, self.default(e, kind))
        if kind.name == "deque" and isinstance(e.slice, ast.Slice):
            return self.refused(e, kind)
        return _at(ast.Subscript(value=owner, slice=key, ctx=e.ctx), e)

    def visit_AugAssign(self, s):
        kind = self.info(s.target.value) if isinstance(s.target, ast.Subscript) else None
        if isinstance(s.target, ast.Name) and s.target.id in self.kinds:
            bad = self.refused(s.target, self.kinds[s.target.id])
            return _at(ast.Expr(value=bad), s)
        if kind is None or kind.name not in ("Counter", "defaultdict"):
            return self.generic_visit(s)
        before, key, owner = [], s.target.slice, s.target.value
        if not isinstance(owner, ast.Name):
            name = self.flattener.fresh("owner")
            before.append(_assign(_name(name, s, ast.Store()), self.visit(owner)))
            owner = _name(name, s)
        if not isinstance(key, (ast.Name, ast.Constant)):
            name = self.flattener.fresh("key")
            before.append(_assign(_name(name, s, ast.Store()), self.visit(key)))
            key = _name(name, s)
        get = "get" if kind.name == "Counter" else "setdefault"
        old = self.method(s, owner, get, _copied(key), self.default(s, kind))
        change = self.visit(s.value)
        in_place = kind.factory and isinstance(
            kind.factory.tree, (ast.List, ast.Dict, ast.Set, ast.Call)
        )
        if in_place:
            name = self.flattener.fresh("value")
            before.append(_assign(_name(name, s, ast.Store()), old))
            target = _name(name, s, ast.Store())
            return [*before, _at(ast.AugAssign(target=target, op=s.op, value=change), s)]
        target = _at(ast.Subscript(value=owner, slice=_copied(key), ctx=ast.Store()), s)
        value = _at(ast.BinOp(left=old, op=s.op, right=change), s)
        return [*before, _at(ast.Assign(targets=[target], value=value), s)]

    def visit_Call(self, e):
        f = e.func
        kind = self.info(f.value) if isinstance(f, ast.Attribute) else None
        if kind is None:
            if self.flattener.builtin(e) in _TAKERS:
                e.args = [a if self.is_held(a) else self.visit(a) for a in e.args]
                e.keywords = [self.visit(k) for k in e.keywords]
                return e
            return self.generic_visit(e)
        args, name = [self.visit(a) for a in e.args], f.attr
        owner = self.held(f.value)
        named = _RENAMED.get((kind.name, name), name)
        bound = self.bounds.get(f.value.id) if isinstance(f.value, ast.Name) else None
        is_plain = kind.name == "deque" and not bound and name in ("append", "extend")
        is_own = not is_plain and (named != name or name in _OWN[kind.name])
        if kind.name == "deque" and name == "appendleft" and not bound and len(args) == 1:
            return self.method(e, owner, "insert", _constant(0, e), *args)
        if is_own and (not e.keywords or kind.name == "OrderedDict"):
            if bound and name in _BOUNDED:
                args.append(_name(bound, e))
            call = self.library(e, named, owner, *args)
            call.keywords = e.keywords
            return call
        if name in _SAME[kind.name] and not e.keywords:
            return self.method(e, owner, name, *args)
        return self.refused(e, kind, f"{kind.name}.{name}")

    def visit_Attribute(self, e):
        kind = self.info(e.value)
        if kind is None:
            return self.generic_visit(e)
        bound = self.bounds.get(getattr(e.value, "id", ""))
        if e.attr == "maxlen" and bound:
            return _name(bound, e)
        return self.refused(e, kind, f"{kind.name}.{e.attr}")

    def is_held(self, e):
        return isinstance(e, ast.Name) and e.id in self.kinds

    def visit_Compare(self, e):
        is_in = len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn))
        if is_in and self.info(e.comparators[0]):
            e.left = self.visit(e.left)
            e.comparators = [self.held(e.comparators[0])]
            return e
        return self.generic_visit(e)

    def test(self, e):
        """What only its truth is asked of."""
        if self.is_held(e):
            return e
        if isinstance(e, ast.BoolOp):
            e.values = [self.test(v) for v in e.values]
            return e
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            e.operand = self.test(e.operand)
            return e
        return self.visit(e)

    def visit_If(self, s):
        s.test = self.test(s.test)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        return s

    visit_While = visit_If

    def visit_UnaryOp(self, e):
        return self.test(e) if isinstance(e.op, ast.Not) else self.generic_visit(e)

    def visit_For(self, s):
        s.target = self.visit(s.target)
        s.iter = s.iter if self.is_held(s.iter) else self.visit(s.iter)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        return s

    def visit_comprehension(self, c):
        c.iter = c.iter if self.is_held(c.iter) else self.visit(c.iter)
        c.target, c.ifs = self.visit(c.target), [self.test(i) for i in c.ifs]
        return c

    def visit_Starred(self, e):
        return e if self.is_held(e.value) else self.generic_visit(e)

    def visit_Name(self, e):
        if isinstance(e.ctx, ast.Load) and e.id in self.kinds:
            return self.refused(e, self.kinds[e.id])
        return e

    def refused(self, e, kind, what=""):
        plain = "list" if kind.name == "deque" else "dict"
        what = what or f"a {kind.name} as a value of its own"
        advice = f"compiled code has a {plain} in its place: give a copy, as in {plain}(x), or make a {plain}"
        return _at(Refused(what=what, advice=advice), e)
