"""Generators that are held in names, run piece by piece: a number says where each one goes on.

The body is cut at its yields and at the heads of its loops. A step runs pieces, in a loop that branches by the number,
until one yields; variables of the generator are variables of the function that holds it.
"""

from __future__ import annotations

import ast
import itertools

from .desugar import _add, _assign, _at, _call, _constant, _copied, _name
from .generator_bodies import Flat, Scope, leaves
from .walks import own_nodes

CHANGES = frozenset(
    "add append clear discard extend insert pop popitem remove reverse setdefault sort update".split()
)
# Builtins that leave what they are given as it is.
_READERS = frozenset(
    "abs all any bool divmod enumerate filter float int isinstance iter len list map max min next "
    "ord pow print range repr reversed round set sorted str sum tuple type zip".split()
)
_END = -1


class Unfit(Exception):
    """The body has a form that cannot be cut."""


def names_in(tree, kind=ast.Load):
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def changed_names(nodes, by_calls=True):
    """Names whose objects are changed in place, or may be by functions that are called with them."""
    found = set()
    for n in nodes:
        owner = None
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            owner = n.func.value if n.func.attr in CHANGES else None
        elif isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
            owner = n.value
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
        elif by_calls and isinstance(n, ast.Call) and getattr(n.func, "id", "") not in _READERS:
            found |= {a.id for a in n.args if isinstance(a, ast.Name)}
        while isinstance(owner, (ast.Subscript, ast.Attribute)):
            owner = owner.value
        if isinstance(owner, ast.Name):
            found.add(owner.id)
    return found


class ResumedGenerators:
    """``resolve``, ``generator_of``, ``iteration`` and ``fresh`` are the flattener's."""

    def can_run_early(self, e, body):
        """Whether nobody can tell that all items of a generator were made where it was."""
        nodes = [n for s in body for n in ast.walk(s)]
        changed = changed_names(nodes, by_calls=True)
        if self.builtin(e) == "iter":
            return not names_in(e) & changed
        stores = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        varied = changed | {n for n in stores if stores.count(n) > 1}
        if isinstance(e, ast.GeneratorExp):
            endless = any(self.is_endless(g.iter) for g in e.generators)
            return not endless and self.is_quiet(e, ()) and not names_in(e) & varied
        made = self.generator_of(e)
        if self.is_endless(e) or names_in(e) & changed:
            return False
        if made is None:
            parts = e.args[1:] if self.builtin(e) in ("map", "filter") else e.args
            return not any(map(self.is_endless, parts)) and self.is_quiet(e, ())
        definition = made.definition
        around = varied if made.scope is not None else set()
        return self.is_quiet_function(definition, made.function, ()) and not (
            names_in(definition) & around - names_in(definition, ast.Store)
        )

    def is_endless(self, e):
        """Whether it is a generator that never ends, or an iterator of itertools that does not."""
        made = self.generator_of(e)
        if made is not None and (self.never_ends(e) or self.ends_with_items(e, made)):
            return True
        name = self.builtin(e)
        if isinstance(e, ast.GeneratorExp):
            return self.is_endless(e.generators[0].iter)
        if name in ("enumerate", "filter", "iter", "map", "zip"):
            items = e.args[:1] if name in ("enumerate", "iter") else e.args[name != "zip" :]
            return bool(items) and all(map(self.is_endless, items))
        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        if not found:
            return False
        is_repeat = value is itertools.repeat and len(e.args) + len(e.keywords) == 1
        return value is itertools.count or value is itertools.cycle or is_repeat

    def ends_with_items(self, e, made):
        """Whether a generator loops over what never ends, and has no other end than that."""
        ends = (ast.Break, ast.Raise, ast.Return)
        nodes = own_nodes(made.definition.body)
        return any(map(self.is_endless, e.args)) and not any(isinstance(n, ends) for n in nodes)

    def is_quiet_function(self, definition, function, seen):
        """Whether a function prints nothing and changes nothing but its own."""
        inside = [n for s in _body(definition) for n in ast.walk(s)]
        given = {a.arg for a in ast.walk(definition.args) if isinstance(a, ast.arg)}
        own = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if changed_names(inside) - (own - given):
            return False
        if any(isinstance(n, (ast.Nonlocal, ast.Global)) for n in inside):
            return False
        scope = function.__globals__ if function is not None else None
        return all(self.is_quiet(s, (*seen, definition.name), scope) for s in _body(definition))

    def is_quiet(self, tree, seen, scope=None):
        for n in ast.walk(tree):
            if not isinstance(n, ast.Call) or isinstance(n.func, ast.Attribute):
                continue
            name = getattr(n.func, "id", "")
            if name == "print":
                return False
            found, value = (name in scope, scope.get(name)) if scope else self.resolve(n.func)
            function = getattr(value, "py_func", value if hasattr(value, "__code__") else None)
            if not found or function is None or name in seen:
                if found or scope or name in seen or name not in self.locals:
                    continue
                return False  # a function inside, which may do anything
            from .source import read_function

            try:
                definition = read_function(function)[0]
            except Exception:  # without a source it is refused anyway
                return False
            if isinstance(definition, ast.Lambda):
                continue
            if not self.is_quiet_function(definition, function, seen):
                return False
        return True

    def resumed(self, e):
        """The pieces of what a name is given: a generator, a generator expression or iter(x)."""
        before = []
        is_iter = self.builtin(e) == "iter"
        if is_iter or (isinstance(e, ast.Call) and self.generator_of(e) is None):
            given = e.args[0] if is_iter else self.with_items_kept(e, before)
            e = _at(
                ast.GeneratorExp(
                    elt=_name("__x", e),
                    generators=[
                        ast.comprehension(
                            target=_name("__x", e, ast.Store()), iter=given, ifs=[], is_async=0
                        )
                    ],
                ),
                e,
            )
        if isinstance(e, ast.GeneratorExp):
            body = self.body_of_expression(e, before)
            names = {
                n: self.fresh("g")
                for n in sorted(set().union(*(names_in(g.target, ast.Store) for g in e.generators)))
            }
            body = [Scope(self, None, names).visit(s) for s in body]
        else:
            body, names = self.body_of_call(e, before)
        return _Pieces(self, e, before, body)

    def with_items_kept(self, e, before):
        """zip(a, b[1:]) and the like: what they go over is there when they are made."""
        args = []
        for a in e.args:
            is_function = isinstance(a, ast.Lambda) or self.resolve(a)[0]
            if not is_function and not isinstance(a, ast.Constant) and not self.is_lazy(a):
                name = self.fresh("a")
                before.append(_assign(_name(name, a, ast.Store()), a))
                a = _name(name, a)
            args.append(a)
        return _at(ast.Call(func=e.func, args=args, keywords=e.keywords), e)

    def body_of_expression(self, e, before):
        body = [_at(ast.Expr(value=_at(ast.Yield(value=_copied(e.elt)), e)), e)]
        for number, g in reversed(list(enumerate(e.generators))):
            for test in reversed(g.ifs):
                body = [_at(ast.If(test=_copied(test), body=body, orelse=[]), e)]
            source = _copied(g.iter)
            if number == 0 and not self.is_lazy(source):
                kept = self.fresh("a")
                before.append(_assign(_name(kept, e, ast.Store()), source))
                source = _name(kept, e)
            body = [_at(ast.For(target=_copied(g.target), iter=source, body=body, orelse=[]), e)]
        return body

    def body_of_call(self, e, before):
        made = self.generator_of(e)
        definition = _copied(made.definition)
        args = definition.args
        by_position = [*args.posonlyargs, *args.args]
        starred = any(isinstance(a, ast.Starred) for a in e.args)
        if args.vararg or args.kwarg or starred or len(e.args) > len(by_position):
            raise Unfit
        definition.body = Flat().block(definition.body)
        nodes = [n for b in definition.body for n in ast.walk(b)]
        around = {name for n in nodes if isinstance(n, ast.Nonlocal) for name in n.names}
        if self.calls_itself(made, nodes) or (around and made.scope is not self):
            raise Unfit
        for n in nodes:
            if hasattr(n, "lineno"):
                _at(n, e)
        named = [*by_position, *args.kwonlyargs]
        own = {a.arg for a in named} | {
            n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        own -= around
        if made.scope is not None and self.hides(made, nodes, own):
            raise Unfit
        names = {n: self.fresh("g") for n in sorted(own)}
        given = dict(zip([a.arg for a in by_position], e.args, strict=False))
        given.update({k.arg: k.value for k in e.keywords})
        defaults = made.defaults()
        for a in named:
            value = given.get(a.arg)
            if value is None:
                if a.arg not in defaults:
                    raise Unfit
                value = _at(_copied(defaults[a.arg]), e)
            elif self.is_lazy(value):
                value = self.as_list(value)
            before.append(_assign(_name(names[a.arg], e, ast.Store()), value))
        return [Scope(self, made.function, names).visit(b) for b in definition.body], names


def _body(definition):
    return definition.body if isinstance(definition.body, list) else [definition.body]


class _Pieces:
    """The body cut into pieces. `begin` makes the generator, `step` runs it to its next yield."""

    def __init__(self, flattener, at, before, body):
        self.flattener, self.at = flattener, at
        self.state, self.ready = flattener.fresh("state"), flattener.fresh("ready")
        self.value = flattener.fresh("value")
        self.pieces, self.loops = [[]], []
        self.made = []  # names of loops' places
        self.counters = set()  # targets of loops over range
        end = self.cut(body, 0)
        if end is not None:
            self.go(end, _END)
        given = {t.id for s in before for t in s.targets if isinstance(t, ast.Name)}
        stored = set().union(*(names_in(s, ast.Store) for p in self.pieces for s in p), set())
        own = sorted(
            n
            for n in stored - given
            if n.startswith("__") and n not in (self.state, self.ready, self.value)
        )
        first = self.first_values()
        none = lambda n: _assign(  # noqa: E731
            _name(n, at, ast.Store()), _at(_copied(first.get(n, ast.Constant(value=None))), at)
        )
        self.begin = [*before, *(none(n) for n in own), self.to(0)]

    def first_values(self):
        """Plain values that the pieces give names: these have their types from the start."""
        found = {n: ast.Constant(value=0) for n in self.counters}
        for s in (n for p in self.pieces for b in p for n in ast.walk(b)):
            if not isinstance(s, ast.Assign) or len(s.targets) != 1:
                continue
            target, value = s.targets[0], s.value
            is_pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=False) if is_pair else [(target, value)]
            for name, v in pairs:
                empty = isinstance(v, (ast.List, ast.Set)) and not v.elts
                is_plain = isinstance(v, ast.Constant) or empty
                if isinstance(name, ast.Name) and is_plain and name.id != self.value:
                    found.setdefault(name.id, v)
        return found

    def to(self, number):
        return _assign(_name(self.state, self.at, ast.Store()), _constant(number, self.at))

    def new(self):
        self.pieces.append([])
        return len(self.pieces) - 1

    def go(self, here, there):
        self.pieces[here].append(self.to(there))

    def cut(self, body, here):
        """Put the statements behind piece `here`; returns where they end, None where they do not."""
        for s in body:
            if here is None:
                return None
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                here = self.give(s, here)
            elif isinstance(s, ast.Return):
                self.go(here, _END)
                here = None
            elif isinstance(s, (ast.Break, ast.Continue)) and self.loops:
                self.go(here, self.loops[-1][isinstance(s, ast.Continue)])
                here = None
            elif not _must_be_cut(s):
                self.pieces[here].append(s)
            elif isinstance(s, ast.If):
                here = self.cut_branch(s, here)
            elif isinstance(s, (ast.While, ast.For)):
                here = self.cut_loop(s, here)
            else:
                raise Unfit
        return here

    def give(self, s, here):
        value = s.value.value or _constant(None, s)
        self.pieces[here] += [
            _assign(_name(self.value, s, ast.Store()), value),
            _assign(_name(self.ready, s, ast.Store()), _constant(True, s)),
        ]
        there = self.new()
        self.go(here, there)
        return there

    def cut_branch(self, s, here):
        yes, no, behind = self.new(), self.new(), self.new()
        self.pieces[here].append(
            _at(ast.If(test=s.test, body=[self.to(yes)], orelse=[self.to(no)]), s)
        )
        ends = [self.cut(s.body, yes), self.cut(s.orelse, no)]
        for end in ends:
            if end is not None:
                self.go(end, behind)
        return None if ends == [None, None] else behind

    def cut_loop(self, s, here):
        if isinstance(s, ast.For):
            plain = self.flattener.loop_over_generator(s)
            if plain is not None:
                return self.cut(plain, here)
        head, body, other, behind = self.new(), self.new(), self.new(), self.new()
        if isinstance(s, ast.For):
            before = []
            if self.flattener.builtin(s.iter) == "range" and isinstance(s.target, ast.Name):
                self.counters.add(s.target.id)
            length, item = self.flattener.iteration(s.iter, before)
            place = self.flattener.fresh("at")
            zero = _assign(_name(place, s, ast.Store()), _constant(0, s))
            self.pieces[here] += [*before, zero]
            test = _at(ast.Compare(left=_name(place, s), ops=[ast.Lt()], comparators=[length]), s)
            more = _at(_add(_name(place, s), _constant(1, s)), s)
            first = [
                _assign(_copied(s.target), item(_name(place, s))),
                _assign(_name(place, s, ast.Store()), more),
            ]
        else:
            test, first = s.test, []
        self.go(here, head)
        choice = ast.If(test=test, body=[self.to(body)], orelse=[self.to(other)])
        self.pieces[head].append(_at(choice, s))
        self.pieces[body] += first
        self.loops.append((behind, head))
        end = self.cut(s.body, body)
        self.loops.pop()
        if end is not None:
            self.go(end, head)
        end = self.cut(s.orelse, other)
        if end is not None:
            self.go(end, behind)
        return behind

    def step(self, at):
        """Statements that run it to its next yield: `ready` says whether there was one."""
        chain = []
        for number, piece in reversed(list(enumerate(self.pieces))):
            body = [_copied(s) for s in piece] or [_at(ast.Pass(), at)]
            test = _at(
                ast.Compare(
                    left=_name(self.state, at), ops=[ast.Eq()], comparators=[_constant(number, at)]
                ),
                at,
            )
            chain = [_at(ast.If(test=test, body=body, orelse=chain), at)] if chain else body
        waits = _at(ast.UnaryOp(op=ast.Not(), operand=_name(self.ready, at)), at)
        lives = _at(
            ast.Compare(
                left=_name(self.state, at), ops=[ast.GtE()], comparators=[_constant(0, at)]
            ),
            at,
        )
        test = _at(ast.BoolOp(op=ast.And(), values=[waits, lives]), at)
        return [
            _assign(_name(self.ready, at, ast.Store()), _constant(False, at)),
            _at(ast.While(test=test, body=chain, orelse=[]), at),
        ]

    def if_ended(self, at, body):
        test = _at(ast.UnaryOp(op=ast.Not(), operand=_name(self.ready, at)), at)
        return _at(ast.If(test=test, body=body, orelse=[]), at)

    def taken(self, at, target):
        """``target = value``, which is there."""
        value = _call("assigned", at, _name(self.value, at))
        return [_at(ast.Assign(targets=[target], value=value), at)]

    def loop(self, at, target, body, orelse=()):
        """A loop over what it still gives."""
        ended = self.if_ended(at, [*orelse, _at(ast.Break(), at)])
        whole = [*self.step(at), ended, *self.taken(at, target), *body]
        return _at(ast.While(test=_constant(True, at), body=whole, orelse=[]), at)


def _must_be_cut(s):
    """Whether there is a yield or a return in it, or a way out of the loop around it."""
    if any(isinstance(n, (ast.Yield, ast.Return)) for n in ast.walk(s)):
        return True
    return bool(leaves([s], (ast.Break, ast.Continue)))
