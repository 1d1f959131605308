"""Loops over generators: the generator's body stands around that of the loop, which each yield runs."""

from __future__ import annotations

import ast
import inspect

from .. import _engine
from .containers import Refused
from .desugar import Value, _at, _call, _constant, _copied, _name, _rebound, _Rename
from .desugar import _assign as _value
from .generator_bodies import Flat, Scope, Yields, leaves
from .plain_functions import compiled_function
from .source import read_function
from .walks import own_nodes


class Generator:
    """A generator function: of Python, or, where `scope` is a flattener, one that is defined inside."""

    def __init__(self, function, definition=None, scope=None):
        self.function, self.scope = function, scope
        self.inside = definition

    @property
    def definition(self):
        return self.inside or read_function(self.function)[0]

    def defaults(self):
        """Expressions by the names of parameters."""
        args = self.definition.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        if self.inside:
            held = dict(zip(names[::-1], args.defaults[::-1], strict=False))
            pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
            return {**held, **{a.arg: d for a, d in pairs if d is not None}}
        held = dict(zip(names[::-1], (self.function.__defaults__ or ())[::-1], strict=False))
        held.update(self.function.__kwdefaults__ or {})
        return {n: Value(value=v, ctx=ast.Load()) for n, v in held.items()}

    def __eq__(self, other):
        if not isinstance(other, Generator) or (self.function is None) != (other.function is None):
            return False
        if self.function is not None:
            return self.function is other.function
        return self.scope is other.scope and self.inside.name == other.inside.name


def is_generator(definition):
    """Whether a function that is written yields."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(definition.body))


class Generators:
    """``resolve``, ``fresh`` and ``guards`` are the flattener's."""

    generators = {}  # those that are defined inside, by their names

    def find_generators(self, body):
        inside = (n for n in own_nodes(body) if isinstance(n, ast.FunctionDef) and is_generator(n))
        self.generators = {n.name: Generator(None, n, self) for n in inside}

    def generator_inside(self, name):
        """The generator of that name that is defined inside of this function or one around, or None."""
        scope = self
        while scope is not None:
            if name in scope.generators:
                return scope.generators[name]
            if name in scope.locals and name not in scope.captured_names:
                return None
            scope = scope.around
        return None

    def generator_of(self, e):
        """The generator that a call makes one of, or None."""
        if not isinstance(e, ast.Call):
            return None
        inside = self.generator_inside(e.func.id) if isinstance(e.func, ast.Name) else None
        if inside is not None:
            return inside
        known = self.generator_of_itertools(e)
        if known is not None:
            return Generator(known)
        found, value = self.resolve(e.func)
        if not found:
            return None
        if not isinstance(value, _engine.Dispatcher):
            value = compiled_function(value)
        function = getattr(value, "py_func", None)
        return Generator(function) if inspect.isgeneratorfunction(function) else None

    def numbered_generator(self, s):
        """A loop over enumerate(generator()) as a loop over the generator with a count; else the loop."""
        call = s.iter
        if self.builtin(call) != "enumerate" or not call.args or call.keywords:
            return s
        pair = s.target.elts if isinstance(s.target, ast.Tuple) else ()
        given = call.args[0]
        is_made = isinstance(given, ast.GeneratorExp) or self.generator_of(given) is not None
        if not is_made or len(pair) != 2 or len(call.args) > 2:
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
        body = self.generator_of(e).definition.body
        last = body[-1]
        is_loop = isinstance(last, ast.While) and isinstance(last.test, ast.Constant)
        if not is_loop or not last.test.value or leaves(last.body, ast.Break):
            return False
        return not any(isinstance(n, (ast.Return, ast.Raise)) for s in body for n in ast.walk(s))

    def zipped_with_endless(self, s):
        """A loop over zip with a generator that never ends as one over that generator; else the loop."""
        call = s.iter
        if self.builtin(call) != "zip" or call.keywords or s.orelse or len(call.args) < 2:
            return s
        endless = [a for a in call.args if self.generator_of(a) is not None and self.is_endless(a)]
        if len(endless) > 1:
            return [_at(ast.Expr(value=self.refused_endless(call)), s)]
        if not endless:
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

    def loop_over_expression(self, s):
        """A loop over a generator expression, map or filter as one over what that loops over, or None."""
        made = s.iter if isinstance(s.iter, ast.GeneratorExp) else self.mapped(s.iter)
        if made is None or len(made.generators) != 1 or made.generators[0].is_async:
            return None
        (g,) = made.generators
        names = {n: self.fresh("v") for n in _loads(g.target)}
        own = _Rename(names)  # a generator's variables are its own
        body = [_value(s.target, own.visit(_copied(made.elt))), *s.body]
        for test in reversed(g.ifs):
            body = [_at(ast.If(test=own.visit(_copied(test)), body=body, orelse=[]), test)]
        target = own.visit(_copied(g.target))
        return [_at(ast.For(target=target, iter=g.iter, body=body, orelse=s.orelse), s)]

    def loop_over_generator(self, s):
        """Statements that run the loop, or None where the generator has another form."""
        plain = self.loop_over_expression(s)
        if plain is not None:
            return plain
        made = self.generator_of(s.iter)
        if made is None or (s.orelse and not self.is_endless(s.iter)):
            return None
        definition = _copied(made.definition)
        args = definition.args
        by_position = [*args.posonlyargs, *args.args]
        if args.vararg or args.kwarg:
            return None
        named = [*by_position, *args.kwonlyargs]
        if any(isinstance(a, ast.Starred) for a in s.iter.args) or len(s.iter.args) > len(
            by_position
        ):
            return None
        definition.body = Flat().block(definition.body)
        nodes = [n for b in definition.body for n in ast.walk(b)]
        if not _is_plain(nodes):
            return None
        around = {name for n in nodes if isinstance(n, ast.Nonlocal) for name in n.names}
        if around and made.scope is not self:
            return None
        for n in nodes:
            if hasattr(n, "lineno"):
                _at(n, s.iter)
        given = dict(zip([a.arg for a in by_position], s.iter.args, strict=False))
        for k in s.iter.keywords:
            if k.arg is None or k.arg in given:
                return None
            given[k.arg] = k.value
        own = {a.arg for a in named}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
        own -= around
        if self.calls_itself(made, nodes):
            return self.loop_over_recursive(made, definition, own, s)
        if made.scope is not None and self.hides(made, nodes, own):
            return None
        names = {n: self.fresh("g") for n in sorted(own)}
        defaults = made.defaults()
        before, streams, is_held = [], {}, False
        for a in named:
            value = given.get(a.arg)
            if isinstance(value, ast.GeneratorExp) or (value is not None and self.is_lazy(value)):
                if self.is_stream(a.arg, definition.body) and not _loads(value) & _rebound(s):
                    streams[names[a.arg]] = value
                    continue
                uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == a.arg]
                if len(uses) > 1 or self.is_repeated(a.arg, definition.body):
                    is_held = True  # each use goes on where the one before ended
                elif self.is_endless(value):
                    return [_at(ast.Expr(value=self.refused_endless(value)), s)]
                else:
                    value = self.as_list(value)
            if value is None:
                if a.arg not in defaults:
                    return None
                value = _at(_copied(defaults[a.arg]), s.iter)
            before.append(_value(_name(names[a.arg], s.iter, ast.Store()), value))
        body = [Scope(self, made.function, names).visit(b) for b in definition.body]
        for n in (n for b in body for n in ast.walk(b) if isinstance(n, ast.For)):
            if isinstance(n.iter, ast.Name):
                n.iter = streams.get(n.iter.id, n.iter)
            elif isinstance(n.iter, ast.Call):
                n.iter.args = [streams.get(getattr(a, "id", None), a) for a in n.iter.args]
        if is_held:
            before, body = [], self.with_iterators([*before, *body])
        breaks = leaves(s.body, ast.Break)
        returns = any(isinstance(n, ast.Return) for n in nodes)
        stop = self.fresh("stop") if breaks or returns else None
        once = bool(breaks or leaves(s.body, ast.Continue))
        body = Yields(self, s, once, stop).block(body)
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

    def is_stream(self, name, body):
        """Whether all that is done with a parameter is one loop over it, or over what gives its items in order."""
        nodes = [n for s in body for n in ast.walk(s)]
        uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
        loops = [n for n in nodes if isinstance(n, ast.For)]
        is_one = len(uses) == 1 and any(
            n.iter in uses
            or (self.builtin(n.iter) in ("enumerate", "zip") and uses[0] in n.iter.args)
            for n in loops
        )
        return is_one and not self.is_repeated(name, body)

    def is_repeated(self, name, body):
        """Whether a loop reads the name each time that it goes round."""
        nodes = [n for s in body for n in ast.walk(s) if isinstance(n, (ast.For, ast.While))]
        return any(name in _loads(s) for n in nodes for s in n.body)

    def refused_endless(self, e):
        what = "this use of an endless iterator"
        return _at(Refused(what=what, advice="take items of it: itertools.islice(x, n)"), e)

    def hides(self, made, nodes, own):
        """Whether a name that the generator reads around it means another variable where the loop stands."""
        scope, hidden = self, set()
        while scope is not made.scope:
            hidden |= scope.locals - set(scope.captured_names)
            scope = scope.around
        return any(isinstance(n, ast.Name) and n.id in hidden - own for n in nodes)


def _is_plain(nodes):
    """Whether the body can stand around a loop's: each yield is a statement, and none where a handler
    would see what the loop raises."""
    if any(isinstance(n, (ast.FunctionDef, ast.Global, ast.Await)) for n in nodes):
        return False
    yields = [n for n in nodes if isinstance(n, ast.Yield)]
    plain = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Yield)]
    tries = [n for n in nodes if isinstance(n, ast.Try) and n.handlers]
    guarded = [n for t in tries for b in t.body for n in ast.walk(b) if isinstance(n, ast.Yield)]
    return len(yields) == len(plain) and not guarded


def _loads(e):
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name)}
