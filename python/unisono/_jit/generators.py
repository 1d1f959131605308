"""Loops over generators: the generator's body stands around that of the loop, which each yield runs."""

from __future__ import annotations

import ast
import builtins
import inspect

from .. import _engine
from .desugar import Value, _at, _call, _constant, _copied, _name, _rebound
from .desugar import _assign as _value
from .source import read_function


class Generators:
    """``resolve``, ``fresh`` and ``guards`` are the flattener's."""

    def generator_of(self, e):
        """The Python function of a call of a compiled generator, or None."""
        if not isinstance(e, ast.Call):
            return None
        known = self.generator_of_itertools(e)
        if known is not None:
            return known
        found, value = self.resolve(e.func)
        if not found or not isinstance(value, _engine.Dispatcher):
            return None
        function = getattr(value, "py_func", None)
        return function if inspect.isgeneratorfunction(function) else None

    def numbered_generator(self, s):
        """A loop over enumerate(generator()) as a loop over the generator with a count; else the loop."""
        call = s.iter
        if self.builtin(call) != "enumerate" or not call.args or call.keywords:
            return s
        pair = s.target.elts if isinstance(s.target, ast.Tuple) else ()
        if self.generator_of(call.args[0]) is None or len(pair) != 2 or len(call.args) > 2:
            return s
        count = self.fresh("count")
        start = call.args[1] if len(call.args) > 1 else _constant(0, s)
        more = _at(ast.BinOp(left=_name(count, s), op=ast.Add(), right=_constant(1, s)), s)
        body = [
            _value(pair[0], _name(count, s)),
            _value(_name(count, s, ast.Store()), more),
            *s.body,
        ]
        loop = ast.For(target=pair[1], iter=call.args[0], body=body, orelse=s.orelse)
        return [_value(_name(count, s, ast.Store()), start), _at(loop, s)]

    def never_ends(self, e):
        """Whether the generator that is called is a loop without an end."""
        body = read_function(self.generator_of(e))[0].body
        last = body[-1]
        is_loop = isinstance(last, ast.While) and isinstance(last.test, ast.Constant)
        if not is_loop or not last.test.value or _leaves(last.body, ast.Break):
            return False
        return not any(isinstance(n, (ast.Return, ast.Raise)) for s in body for n in ast.walk(s))

    def zipped_with_endless(self, s):
        """A loop over zip with a generator that never ends as one over that generator; else the loop."""
        call = s.iter
        if self.builtin(call) != "zip" or call.keywords or s.orelse or len(call.args) < 2:
            return s
        endless = [a for a in call.args if self.generator_of(a) is not None and self.never_ends(a)]
        if len(endless) != 1:
            return s
        before, given, item = [], _name(self.fresh("z"), s), {}
        count = _name(self.fresh("count"), s)
        tests = []
        for a in call.args:
            if a is endless[0]:
                continue
            length, item[a] = self.iteration(self.as_list(a) if self.is_lazy(a) else a, before)
            tests.append(_at(ast.Compare(left=count, ops=[ast.GtE()], comparators=[length]), s))
        stop = ast.If(
            test=tests[0] if len(tests) == 1 else _at(ast.BoolOp(op=ast.Or(), values=tests), s),
            body=[_at(ast.Break(), s)],
            orelse=[],
        )
        items = [given if a is endless[0] else item[a](count) for a in call.args]
        more = _at(ast.BinOp(left=count, op=ast.Add(), right=_constant(1, s)), s)
        body = [
            _at(stop, s),
            _value(s.target, _at(ast.Tuple(elts=items, ctx=ast.Load()), s)),
            _value(_name(count.id, s, ast.Store()), more),
            *s.body,
        ]
        target = _name(given.id, s, ast.Store())
        loop = _at(ast.For(target=target, iter=endless[0], body=body, orelse=[]), s)
        return [*before, _value(_name(count.id, s, ast.Store()), _constant(0, s)), loop]

    def loop_over_generator(self, s):
        """Statements that run the loop, or None where the generator has another form."""
        function = self.generator_of(s.iter)
        if function is None or s.orelse:
            return None
        definition = _copied(read_function(function)[0])
        args = definition.args
        by_position = [*args.posonlyargs, *args.args]
        if args.vararg or args.kwarg:
            return None
        named = [*by_position, *args.kwonlyargs]
        if any(isinstance(a, ast.Starred) for a in s.iter.args) or len(s.iter.args) > len(
            by_position
        ):
            return None
        definition.body = _Flat().block(definition.body)
        odd = (
            ast.YieldFrom,
            ast.FunctionDef,
            ast.Lambda,
            ast.Nonlocal,
            ast.Global,
            ast.Try,
        )
        nodes = [n for b in definition.body for n in ast.walk(b)]
        yields = [n for n in nodes if isinstance(n, ast.Yield)]
        plain = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Yield)]
        if any(isinstance(n, odd) for n in nodes) or len(yields) != len(plain):
            return None
        for n in nodes:
            if hasattr(n, "lineno"):
                _at(n, s.iter)
        given = dict(zip([a.arg for a in by_position], s.iter.args, strict=False))
        for k in s.iter.keywords:
            if k.arg is None or k.arg in given:
                return None
            given[k.arg] = k.value
        held = function.__defaults__ or ()
        defaults = dict(zip([a.arg for a in by_position][::-1], held[::-1], strict=False))
        defaults.update(function.__kwdefaults__ or {})
        own = {a.arg for a in named}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = {n: self.fresh("g") for n in sorted(own)}
        before, streams = [], {}
        for a in named:
            value = given.get(a.arg)
            if value is not None and self.is_lazy(value):
                if _is_stream(a.arg, nodes) and not _loads(value) & _rebound(s):
                    streams[names[a.arg]] = value
                    continue
                value = self.as_list(value)
            if value is None:
                if a.arg not in defaults:
                    return None
                value = _at(Value(value=defaults[a.arg], ctx=ast.Load()), s.iter)
            before.append(_value(_name(names[a.arg], s.iter, ast.Store()), value))
        body = [_Scope(self, function, names).visit(b) for b in definition.body]
        for n in (n for b in body for n in ast.walk(b) if isinstance(n, ast.For)):
            n.iter = streams.get(getattr(n.iter, "id", None), n.iter)
        leaves = _leaves(s.body, ast.Break)
        returns = any(isinstance(n, ast.Return) for n in nodes)
        stop = self.fresh("stop") if leaves or returns else None
        once = bool(leaves or _leaves(s.body, ast.Continue))
        body = _Yields(self, s, once, stop).block(body)
        if stop:
            before.append(_value(_name(stop, s, ast.Store()), _constant(False, s)))
            whole = ast.For(
                target=_name(self.fresh("once"), s, ast.Store()),
                iter=_call("range", s, _constant(1, s)),
                body=body,
                orelse=[],
            )
            body = [_at(whole, s)]
        return [*before, *body]


def _loads(e):
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name)}


def _is_stream(name, nodes):
    """Whether all that is done with a parameter is one loop over it."""
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    loops = [n for n in nodes if isinstance(n, ast.For) and n.iter in uses]
    return len(uses) == len(loops) == 1


def _leaves(body, kind):
    """Statements of that kind that leave the loop whose body it is."""
    found = []
    for s in body:
        if isinstance(s, kind):
            found.append(s)
        if isinstance(s, (ast.For, ast.While, ast.FunctionDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            found += _leaves(getattr(s, field, []) or [], kind)
    return found


class _Scope(ast.NodeTransformer):
    """The generator's own names are fresh; others stand for what they are where it was defined."""

    def __init__(self, flattener, function, names):
        self.flattener, self.function, self.names = flattener, function, names
        cells = function.__closure__ or ()
        self.cells = dict(zip(function.__code__.co_freevars, cells, strict=True))

    def visit_Name(self, n):
        if n.id in self.names:
            n.id = self.names[n.id]
            return n
        scope = self.function.__globals__
        if n.id in self.cells:
            owner, value = self.cells[n.id], self.cells[n.id].cell_contents
        elif n.id in scope:
            owner, value = scope, scope[n.id]
        elif hasattr(builtins, n.id):
            return n
        else:
            return n
        self.flattener.guard(owner, n.id, value)
        return _at(Value(value=value, ctx=ast.Load()), n)


class _Flat(ast.NodeTransformer):
    """`yield from items` as a loop that yields."""

    def block(self, body):
        return [self.visit(s) for s in body]

    def visit_Expr(self, s):
        if not isinstance(s.value, ast.YieldFrom):
            return s
        item = _name("__item", s, ast.Store())
        given = _at(ast.Expr(value=_at(ast.Yield(value=_name("__item", s)), s)), s)
        return _at(ast.For(target=item, iter=s.value.value, body=[given], orelse=[]), s)


class _Yields:
    """Puts the loop's body where the generator yields."""

    def __init__(self, flattener, loop, once, stop):
        self.flattener, self.loop, self.once, self.stop = flattener, loop, once, stop

    def block(self, statements):
        made = []
        for s in statements:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                made += self.run(s.value.value)
                continue
            if isinstance(s, ast.Return):
                stopped = _name(self.stop, self.loop, ast.Store())
                made += [_value(stopped, _constant(True, self.loop)), _at(ast.Break(), self.loop)]
                continue
            has_yield = any(isinstance(n, (ast.Yield, ast.Return)) for n in ast.walk(s))
            for field in ("body", "orelse"):
                if getattr(s, field, None):
                    setattr(s, field, self.block(getattr(s, field)))
            made.append(s)
            if self.stop and has_yield:
                made.append(self.leave())
        return made

    def leave(self):
        test = _name(self.stop, self.loop)
        return _at(ast.If(test=test, body=[_at(ast.Break(), self.loop)], orelse=[]), self.loop)

    def run(self, value):
        s = self.loop
        value = value or _constant(None, s)
        made = [_value(_copied(s.target), value)]
        body = [_copied(b) for b in s.body]
        if not self.once:
            return [*made, *body]
        if self.stop:
            body = _noted(body, self.stop)
        inner = ast.For(
            target=_name(self.flattener.fresh("once"), s, ast.Store()),
            iter=_call("range", s, _constant(1, s)),
            body=body,
            orelse=[],
        )
        made.append(_at(inner, s))
        if self.stop:
            made.append(self.leave())
        return made


def _noted(body, stop):
    """Each break of the loop also sets the name."""
    made = []
    for s in body:
        if isinstance(s, ast.Break):
            made.append(_value(_name(stop, s, ast.Store()), _constant(True, s)))
        if not isinstance(s, (ast.For, ast.While, ast.FunctionDef)):
            for field in ("body", "orelse", "finalbody"):
                if getattr(s, field, None):
                    setattr(s, field, _noted(getattr(s, field), stop))
        made.append(s)
    return made
