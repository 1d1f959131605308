"""Flattens what threads share: locks, tasks, reductions by functions of the program."""

from __future__ import annotations

import ast

from .. import _engine
from .desugar import (
    Known,
    Value,
    _add,
    _at,
    _call,
    _constant,
    _copied,
    _floordiv,
    _mul,
    _name,
    _sub,
    _tuple,
)
from .desugar import _assign as _value

_MOST_PARTS = 16


class Sharing:
    """``resolve``, ``fresh`` and ``statements`` are the flattener's."""

    in_region = 0

    def is_with(self, s, word):
        """Whether the statement is ``with WORD(...):``."""
        if not isinstance(s, ast.With) or len(s.items) != 1 or s.items[0].optional_vars is not None:
            return False
        call = s.items[0].context_expr
        if not isinstance(call, ast.Call) or call.keywords:
            return False
        found, value = self.resolve(call.func)
        return found and value is word

    # ---- locks
    locks = None  # calls of lock by the names that hold them

    def keeps_lock(self, s):
        """Whether the statement is ``name = un.lock(key)`` with a constant key and the only one of that name."""
        call, target = s.value, s.targets[0]
        is_call = isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute))
        name = getattr(call.func, "attr", getattr(call.func, "id", "")) if is_call else ""
        if name != "lock" or len(s.targets) > 1 or not isinstance(target, ast.Name):
            return False
        from . import lock

        found, value = self.resolve(call.func)
        is_constant = not call.keywords and all(isinstance(a, ast.Constant) for a in call.args)
        stores = [n for n in ast.walk(self.definition) if _is_stored(n) and n.id == target.id]
        if not found or value is not lock or not is_constant or len(stores) != 1:
            return False
        self.locks = {**(self.locks or {}), target.id: call}
        return True

    def with_lock(self, s):
        """``with name:`` of a lock that a name holds as ``with un.lock(key):``; else the statement."""
        held = s.items[0].context_expr
        if len(s.items) != 1 or not isinstance(held, ast.Name):
            return s
        from . import lock

        call = (self.locks or {}).get(held.id)
        found, value = (False, None) if call else self.resolve(held)
        if found and isinstance(value, lock) and type(value.key) is int:
            function = _at(Value(value=lock, ctx=ast.Load()), held)
            call = ast.Call(func=function, args=[_constant(value.key, held)], keywords=[])
        if call is None:
            return s
        item = ast.withitem(context_expr=_at(_copied(call), held), optional_vars=None)
        return _at(ast.With(items=[item], body=s.body), s)

    def locked(self, s):
        """The nodes of ``with un.lock():``; its key is read once."""
        call = s.items[0].context_expr
        if len(call.args) > 1:
            return [self.unsupported(s, "a lock with several keys", "write un.lock(key)")]
        key = self.fresh("key")
        given = call.args[0] if call.args else _constant(0, s)
        take, give = (_call(f"lock_{w}", s, _name(key, s)) for w in ("take", "give"))
        nodes = [self.statement(_value(_name(key, s, ast.Store()), given))]
        nodes.append(self.statement(_at(ast.Expr(value=take), s)))
        last = self.block([_at(ast.Expr(value=give), s)])
        return [*nodes, self.node(s, "Finally", [self.block(s.body), last], "lock")]

    # ---- tasks
    def task_group(self, s):
        """``with un.tasks():`` as its other statements and a loop over what each task takes with it."""
        from . import task

        sites = []
        group = _TaskFinder(lambda n: self.is_with(n, task), sites).visit(_copied(s))
        if not sites:
            return [self.unsupported(s, "tasks without a task", "write with un.task(): inside")]
        assigned = {n.id for b in group.body for n in ast.walk(b) if _is_stored(n)}
        before, loops = [], []
        ends = None
        branch = None
        index = self.fresh("task")
        for made in sites:
            body = made.body
            inside = [n for b in body for n in ast.walk(b)]
            odd = next((n for n in inside if isinstance(n, ast.Return)), None)
            if odd is not None:
                return [self.unsupported(odd, "return in a task", "store the result into an array")]
            odd = next((n for n in inside if self.is_with(n, task)), None)
            if odd is not None:
                return [
                    self.unsupported(
                        odd,
                        "a task inside of a task",
                        "let a function that the task calls make it in a block of un.tasks()",
                    )
                ]
            read = dict.fromkeys(n.id for n in inside if _is_read(n))
            takes = [n for n in read if n in assigned]
            changes = [
                n for n in inside if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
            ]
            updated = {id(n.target) for n in changes}
            has = {*takes, *(n.id for n in inside if _is_stored(n) and id(n) not in updated)}
            odd = next((n for n in changes if n.target.id not in has), None)
            if odd is not None:
                return [
                    self.unsupported(
                        odd,
                        f"changing '{odd.target.id}' of the function around in a task",
                        "a task has its own variables: store into an array, under un.lock() if others do",
                    )
                ]
            own = {n.id for b in body for n in ast.walk(b) if _is_stored(n)} | set(takes)
            names = {n: self.fresh("t") for n in sorted(own) if n in self.locals}
            held = self.fresh("tasks")
            before.append(
                _value(_name(held, s, ast.Store()), _at(ast.List(elts=[], ctx=ast.Load()), s))
            )
            items = [_name(n, made) for n in takes] or [_constant(0, made)]
            append = _at(
                ast.Attribute(value=_name(held, made), attr="append", ctx=ast.Load()), made
            )
            call = ast.Call(
                func=append, args=[_tuple(made, *items, _constant(0, made))], keywords=[]
            )
            made.generates.append(_at(ast.Expr(value=_at(call, made)), made))
            loops.append((held, takes, names, body, made))
        for held, takes, names, body, made in loops:
            k = _name(index, made) if ends is None else _sub(_name(index, made), ends)
            taken = _at(ast.Subscript(value=_name(held, made), slice=k, ctx=ast.Load()), made)
            item = self.fresh("item")
            unpack = [_value(_name(item, made, ast.Store()), taken)]
            for place, n in enumerate(takes):
                part = ast.Subscript(
                    value=_name(item, made), slice=_constant(place, made), ctx=ast.Load()
                )
                unpack.append(_value(_name(names[n], made, ast.Store()), _at(part, made)))
            run = [*unpack, *(_Renamed(names).visit(b) for b in body)]
            count = _call("len", made, _name(held, made))
            ends = count if ends is None else _add(ends, count)
            branch = (branch or []) + [(ends, run)]
        chain = []
        for end, run in reversed(branch):
            if not chain:
                chain = run
                continue
            test = _at(
                ast.Compare(left=_name(index, s), ops=[ast.Lt()], comparators=[_copied(end)]), s
            )
            chain = [_at(ast.If(test=test, body=run, orelse=chain), s)]
        in_region, self.in_region = self.in_region, 0
        nodes = [n for b in [*before, *group.body] for n in self.statements(b)]
        known = _at(Known(id="un.prange", ctx=ast.Load()), s)
        keyword = _at(ast.keyword(arg="schedule", value=_constant("dynamic", s)), s)
        loop = self.node(
            s,
            "For",
            [
                self.expression_Name(_name(index, s, ast.Store())),
                self.expression(_at(ast.Call(func=known, args=[ends], keywords=[keyword]), s)),
                self.block(chain),
            ],
            "tasks",
        )
        self.in_region = in_region
        if in_region:  # one thread makes the tasks, all take them in turn
            first = group.body[0]
            nodes = [self.node(s, "Single", [self.node(first, "Block", nodes)])]
        return [*nodes, loop]

    # ---- reductions
    def reduced_loop(self, s):
        """A loop over prange whose body does ``x = f(x, e)`` with a compiled f, or None."""
        from . import prange

        call = s.iter
        if not isinstance(call, ast.Call) or s.orelse or self.in_region:
            return None
        found, value = self.resolve(call.func)
        if not found or value is not prange or not isinstance(s.target, ast.Name):
            return None
        updates = {}
        for n in _statements_of(s.body):
            name = self.combined(n)
            if name:
                updates.setdefault(name, []).append(n)
        if not updates:
            return None
        uses = {}
        for n in (n for b in s.body for n in ast.walk(b)):
            if isinstance(n, ast.Name):
                uses[n.id] = uses.get(n.id, 0) + 1
        found = {n: u for n, u in updates.items() if uses[n] == 2 * len(u)}
        functions = {n: {ast.unparse(x.value.func) for x in u} for n, u in found.items()}
        found = {n: u for n, u in found.items() if len(functions[n]) == 1}
        leaves = any(isinstance(n, (ast.Break, ast.Return)) for b in s.body for n in ast.walk(b))
        if not found or leaves or not 1 <= len(call.args) <= 3:
            return None
        return self.loop_over_parts(s, found)

    def combined(self, s):
        """The name of ``x = f(x, e)``, or None."""
        if not isinstance(s, ast.Assign) or len(s.targets) != 1:
            return None
        target, call = s.targets[0], s.value
        fits = isinstance(target, ast.Name) and isinstance(call, ast.Call) and not call.keywords
        if not fits or len(call.args) != 2 or not isinstance(call.func, ast.Name):
            return None
        first, other = call.args
        if not isinstance(first, ast.Name) or first.id != target.id or target.id not in self.locals:
            return None
        if any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(other)):
            return None
        found, value = self.resolve(call.func)
        is_function = (found and isinstance(value, _engine.Dispatcher)) or (
            call.func.id in self.functions
        )
        return target.id if is_function else None

    def loop_over_parts(self, s, found):
        """Each part of the loop starts with its first value; the parts are combined in order."""
        before = []
        length, item = self.iteration_of_range(_copied(s.iter), before)
        name = lambda hint: self.fresh(hint)  # noqa: E731
        count, parts, size, part, k = (name(h) for h in ("n", "parts", "size", "part", "k"))
        stored = lambda n: _name(n, s, ast.Store())  # noqa: E731
        before.append(_value(stored(count), length))
        few = _call("min", s, _name(count, s), _constant(_MOST_PARTS, s))
        before.append(_value(stored(parts), _call("max", s, few, _constant(1, s))))
        up = _sub(_add(_name(count, s), _name(parts, s)), _constant(1, s))
        before.append(_value(stored(size), _floordiv(up, _name(parts, s))))
        starts, ends, behind, own = [], [], [], {}
        for x, updates in found.items():
            rooms, is_first, mine = name("room"), name("first"), name("mine")
            function = updates[0].value.func
            before.append(
                _value(stored(rooms), _call("partial_new", s, _name(x, s), _name(parts, s)))
            )
            starts.append(_value(stored(is_first), _constant(True, s)))
            starts.append(_value(stored(mine), _name(x, s)))
            put = _call(
                "partial_put",
                s,
                _name(rooms, s),
                _name(part, s),
                _name(mine, s),
                _name(is_first, s),
            )
            ends.append(_at(ast.Expr(value=put), s))
            empty = _call("partial_empty", s, _name(rooms, s), _name(part, s))
            held = _call("partial_get", s, _name(rooms, s), _name(part, s), _name(x, s))
            both = _at(ast.Call(func=function, args=[_name(x, s), held], keywords=[]), s)
            test = _at(ast.UnaryOp(op=ast.Not(), operand=empty), s)
            behind.append(_at(ast.If(test=test, body=[_value(stored(x), both)], orelse=[]), s))
            own[x] = (mine, is_first)
        body = [_Combined(own).visit(_copied(b)) for b in s.body]
        begin = _mul(_name(part, s), _name(size, s))
        end = _call(
            "min", s, _mul(_add(_name(part, s), _constant(1, s)), _name(size, s)), _name(count, s)
        )
        inner = _at(
            ast.For(
                target=stored(k),
                iter=_call("range", s, begin, end),
                body=[_value(_name(s.target.id, s.target, ast.Store()), item(_name(k, s))), *body],
                orelse=[],
            ),
            s,
        )
        keywords = [w for w in s.iter.keywords if w.arg == "num_threads"]
        outer = ast.Call(func=s.iter.func, args=[_name(parts, s)], keywords=keywords)
        nodes = [self.statement(b) for b in before]
        told = ", ".join(f"{x} (by {u[0].value.func.id})" for x, u in found.items())
        nodes.append(
            self.node(
                s,
                "For",
                [
                    self.expression_Name(stored(part)),
                    self.expression(_at(outer, s.iter)),
                    self.block([*starts, inner, *ends]),
                ],
                value=told,
            )
        )
        last = ast.For(
            target=stored(part), iter=_call("range", s, _name(parts, s)), body=behind, orelse=[]
        )
        return [*nodes, self.statement(_at(last, s))]


def _is_stored(n):
    return isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)


def _is_read(n):
    return isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)


class _TaskFinder(ast.NodeTransformer):
    """Puts statements that note a task where the task stands."""

    def __init__(self, is_task, sites):
        self.is_task, self.sites = is_task, sites

    def visit_With(self, node):
        if not self.is_task(node):
            return self.generic_visit(node)
        node.generates = []
        self.sites.append(node)
        noted = ast.If(test=_constant(True, node), body=node.generates, orelse=[])
        return _at(noted, node)

    def visit_FunctionDef(self, node):
        return node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node


class _Combined(ast.NodeTransformer):
    """``x = f(x, e)`` of a part: the first value is taken as it is."""

    def __init__(self, own):
        self.own = own

    def visit_Assign(self, s):
        target = s.targets[0]
        if not isinstance(target, ast.Name) or target.id not in self.own:
            return s
        mine, is_first = self.own[target.id]
        other = s.value.args[1]
        call = _at(ast.Call(func=s.value.func, args=[_name(mine, s), other], keywords=[]), s)
        first = [
            _value(_name(mine, s, ast.Store()), _copied(other)),
            _value(_name(is_first, s, ast.Store()), _constant(False, s)),
        ]
        rest = [_value(_name(mine, s, ast.Store()), call)]
        return _at(ast.If(test=_name(is_first, s), body=first, orelse=rest), s)


def _statements_of(body):
    """The statements, and those inside of them."""
    for s in body:
        yield s
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements_of(getattr(s, name, ()))
