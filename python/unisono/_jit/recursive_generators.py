"""Loops over generators that call themselves.

Where such a generator only passes on what its own calls give (``yield from walk(child)``), the loop's body goes
into a function inside that calls itself: all happens when it does in Python. Others (``for p in perms(rest): yield
[x] + p``) become functions that make lists, if nobody can tell.
"""

from __future__ import annotations

import ast

from .containers import Refused
from .desugar import _assign as _value
from .desugar import _at, _call, _constant, _copied, _name
from .generator_bodies import Scope, blocks_of, leaves

_CHANGES = frozenset(
    "add append clear discard extend insert pop popitem remove reverse setdefault sort update".split()
)


class RecursiveGenerators:
    """``generator_of``, ``fresh`` and ``writers`` are the flattener's."""

    def calls_itself(self, made, nodes):
        name = made.definition.name
        calls = (n for n in nodes if isinstance(n, ast.Call))
        return any(
            getattr(n.func, "id", getattr(n.func, "attr", "")) == name and self.is_call_of(n, made)
            for n in calls
        )

    def is_call_of(self, e, made):
        if made.function is None:
            return self.generator_of(e) == made
        names = {**made.function.__globals__}
        cells = zip(
            made.function.__code__.co_freevars, made.function.__closure__ or (), strict=True
        )
        for name, cell in cells:
            try:
                names[name] = cell.cell_contents
            except ValueError:
                continue
        value = names.get(e.func.id) if isinstance(e.func, ast.Name) else None
        return value is made.function or getattr(value, "py_func", None) is made.function

    def loop_over_recursive(self, made, definition, own, s):
        """Statements that run the loop."""
        passes_on = all(
            _is_passed_on(loop)
            for b in definition.body
            for loop in ast.walk(b)
            if isinstance(loop, ast.For) and self.holds_call_of(loop.iter, made)
        )
        is_listed = _only_appends(s)
        if passes_on and not is_listed and not _leaves_function(s.body) and not self.in_try:
            return self.loop_in_function(made, definition, own, s)
        names = {n: n for n in own}
        body = [Scope(self, made.function, names).visit(b) for b in definition.body]
        why = None if is_listed else _what_shows(body, own, s)
        if why:
            advice = "let it yield copies and leave other things as they are, or append to a list"
            return [_at(ast.Expr(value=_at(Refused(what=why, advice=advice), s)), s)]
        function, result = self.fresh("gen"), self.fresh("made")
        body = _Calls(self, made, function, {}).block(body)
        body = _Lists(result).block(body)
        empty = _at(ast.List(elts=[], ctx=ast.Load()), s)
        body = [
            _value(_name(result, s, ast.Store()), empty),
            *body,
            _at(ast.Return(value=_name(result, s)), s),
        ]
        before = self.function_of(function, made, definition.args, body, {}, s)
        s.iter = _at(
            ast.Call(func=_name(function, s), args=s.iter.args, keywords=s.iter.keywords), s
        )
        return [before, s]

    def holds_call_of(self, e, made):
        return any(isinstance(n, ast.Call) and self.is_call_of(n, made) for n in ast.walk(e))

    def loop_in_function(self, made, definition, own, s):
        function, stop = self.fresh("gen"), None
        breaks = leaves(s.body, ast.Break)
        names = {n: self.fresh("g") for n in sorted(own)}
        body = [Scope(self, made.function, names).visit(b) for b in definition.body]
        if breaks:
            stop = self.fresh("stop")
        calls = _Calls(self, made, function, names)
        body = _Runs(s, stop, calls).block(body)
        shared = self.shared_names(s)
        if stop:
            shared |= {stop}
        if shared:
            body = [_at(ast.Nonlocal(names=sorted(shared)), s), *body]
            self.writers = {**self.writers, function: tuple(sorted(shared))}
        before = self.function_of(function, made, definition.args, body, names, s)
        keywords = [_at(ast.keyword(arg=names[k.arg], value=k.value), s) for k in s.iter.keywords]
        call = _at(ast.Call(func=_name(function, s), args=s.iter.args, keywords=keywords), s)
        made = [before, _at(ast.Expr(value=call), s)]
        if stop:
            made.insert(0, _value(_name(stop, s, ast.Store()), _constant(False, s)))
        return made

    def shared_names(self, s):
        """Names that the loop assigns and that the function around it has before."""
        nodes = [n for part in (s.target, *s.body) for n in ast.walk(part)]
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        targets = {
            n.id
            for loop in (s, *(n for n in nodes if isinstance(n, ast.For)))
            for n in ast.walk(loop.target)
            if isinstance(n, ast.Name)
        }
        written, before = set(), set()
        start = (s.lineno, s.col_offset)
        for n in _in_scope([self.definition]):
            if isinstance(n, ast.arg):
                before.add(n.arg)
            elif isinstance(n, ast.Name):
                written.add(n.id)
                is_store = isinstance(n.ctx, ast.Store) and (n.lineno, n.col_offset) < start
                before |= {n.id} if is_store else set()
        return {n for n in stored if n in before or (n not in written and n not in targets)}

    def function_of(self, name, made, args, body, names, s):
        """The function inside, with the generator's parameters."""
        args = _copied(args)
        defaults = made.defaults()
        by_position = [*args.posonlyargs, *args.args]
        held = [defaults[a.arg] for a in by_position if a.arg in defaults]
        args.defaults = [_at(_copied(d), s) for d in held]
        args.kw_defaults = [
            _at(_copied(defaults[a.arg]), s) if a.arg in defaults else None for a in args.kwonlyargs
        ]
        for a in (*by_position, *args.kwonlyargs):
            a.arg, a.annotation = names.get(a.arg, a.arg), None
        made = ast.FunctionDef(name=name, args=args, body=body, decorator_list=[], returns=None)
        return _at(made, s)


def _in_scope(nodes):
    """All nodes below but those of functions inside and of comprehensions."""
    other = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
    for n in nodes:
        yield n
        yield from _in_scope(c for c in ast.iter_child_nodes(n) if not isinstance(c, other))


def _is_passed_on(loop):
    """Whether it is ``for x in ...: yield x``."""
    one = loop.body[0] if len(loop.body) == 1 and not loop.orelse else None
    is_yield = isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield)
    value = one.value.value if is_yield else None
    names = isinstance(value, ast.Name) and isinstance(loop.target, ast.Name)
    return names and value.id == loop.target.id


def _only_appends(s):
    """Whether all that the loop does is to fill a list: `list` and the like, where nothing comes in between."""
    one = s.body[0] if len(s.body) == 1 else None
    call = one.value if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) else None
    f = call.func if call else None
    is_append = (
        isinstance(f, ast.Attribute) and f.attr == "append" and isinstance(f.value, ast.Name)
    )
    return bool(is_append and f.value.id.startswith("__") and isinstance(call.args[0], ast.Name))


def _leaves_function(body):
    return any(isinstance(n, (ast.Return, ast.Yield)) for b in body for n in ast.walk(b))


def _what_shows(body, own, s):
    """What tells that all items are made before the loop begins, or None."""
    nodes = [n for b in body for n in ast.walk(b)]
    yielded = {
        n.value.id for n in nodes if isinstance(n, ast.Yield) and isinstance(n.value, ast.Name)
    }
    read = {n.id for b in s.body for n in ast.walk(b) if isinstance(n, ast.Name)}
    passed = {n.id for a in s.iter.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    for n in nodes:
        owner = None
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print":
            return "a recursive generator that prints"
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            owner = n.func.value if n.func.attr in _CHANGES else None
        elif isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
            owner = n.value
        while isinstance(owner, (ast.Subscript, ast.Attribute)):
            owner = owner.value
        if not isinstance(owner, ast.Name):
            continue
        if owner.id not in own:
            return f"a recursive generator that changes '{owner.id}' around it"
        if owner.id in yielded:
            return f"a recursive generator that yields '{owner.id}', which it changes,"
        if read & passed:
            return "a recursive generator that changes what the loop over it reads"
    return None


class _Calls(ast.NodeTransformer):
    """Calls of the generator by itself as calls of the function that stands for it."""

    def __init__(self, flattener, made, function, names):
        self.flattener, self.made, self.function, self.names = flattener, made, function, names

    def block(self, body):
        return [self.visit(b) for b in body]

    def visit_Call(self, e):
        e = self.generic_visit(e)
        if self.flattener.generator_of(e) != self.made:
            return e
        for k in e.keywords:
            k.arg = self.names.get(k.arg, k.arg)
        return _at(ast.Call(func=_name(self.function, e), args=e.args, keywords=e.keywords), e)


class _Lists:
    """A yield appends; a return gives the list."""

    def __init__(self, result):
        self.result = result

    def block(self, body):
        made = []
        for s in body:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                append = ast.Attribute(value=_name(self.result, s), attr="append", ctx=ast.Load())
                value = s.value.value or _constant(None, s)
                s.value = _at(ast.Call(func=_at(append, s), args=[value], keywords=[]), s)
            elif isinstance(s, ast.Return):
                s.value = _name(self.result, s)
            for owner, field in blocks_of(s):
                setattr(owner, field, self.block(getattr(owner, field)))
            made.append(s)
        return made


class _Runs:
    """A yield runs the body of the loop; what its own calls give they pass to it themselves."""

    def __init__(self, loop, stop, calls):
        self.loop, self.stop, self.calls = loop, stop, calls

    def block(self, body):
        made = []
        for s in body:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                made += self.run(s.value.value)
                continue
            if isinstance(s, ast.For) and self.is_own(s.iter):
                made.append(_at(ast.Expr(value=self.calls.visit(s.iter)), s))
                if self.stop:
                    test = _name(self.stop, s)
                    made.append(
                        _at(ast.If(test=test, body=[_at(ast.Return(value=None), s)], orelse=[]), s)
                    )
                continue
            for owner, field in blocks_of(s):
                setattr(owner, field, self.block(getattr(owner, field)))
            made.append(s)
        return made

    def is_own(self, e):
        return self.calls.flattener.generator_of(e) == self.calls.made

    def run(self, value):
        s = self.loop
        value = value or _constant(None, s)
        body = [_value(_copied(s.target), value), *self.ended([_copied(b) for b in s.body])]
        if not leaves(s.body, ast.Continue):
            return body
        once = ast.For(
            target=_name(self.calls.flattener.fresh("once"), s, ast.Store()),
            iter=_call("range", s, _constant(1, s)),
            body=body,
            orelse=[],
        )
        return [_at(once, s)]

    def ended(self, body):
        """A break of the loop ends the function."""
        made = []
        for s in body:
            if isinstance(s, ast.Break):
                stopped = _name(self.stop, s, ast.Store())
                made += [_value(stopped, _constant(True, s)), _at(ast.Return(value=None), s)]
                continue
            is_loop = isinstance(s, (ast.For, ast.While))
            for owner, field in blocks_of(s) if not isinstance(s, ast.FunctionDef) else ():
                if not is_loop or field == "orelse":
                    setattr(owner, field, self.ended(getattr(owner, field)))
            made.append(s)
        return made
