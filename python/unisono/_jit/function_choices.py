"""Names and tables that hold one of several functions: a number says which, and calls branch by it.

``f = add if c else sub`` keeps the number of the function that was chosen, ``{"+": add, "-": sub}[op](x, y)`` finds it by
the key; a call evaluates its arguments once and calls the function of that number.
"""

from __future__ import annotations

import ast
import re

from .containers import Refused, Statements
from .desugar import Known, Let, Value, _assign, _at, _constant, _copied, _name, _tuple
from .walks import own_nodes, statements

_CALLS_A_RESULT = re.compile(r"[\])]\s*\(")


class FunctionChoices:
    """``resolve``, ``fresh`` and ``guards`` are the flattener's."""

    def with_choices(self, body):
        """The statements, with numbers for functions that are known only when they run."""
        if not self.may_choose(body):  # seldom; the walk of the tree is slow
            return body
        found = _Finder(self, body)
        if not found.names and not found.tables and not found.is_needed:
            return body
        chooser = _Chooser(self, found)
        made = chooser.block([_copied(s) for s in body])
        return [*chooser.lambdas, *made]

    def may_choose(self, body):
        if _CALLS_A_RESULT.search("".join(self.lines)):
            return True
        for s in statements(body):
            if isinstance(s, ast.FunctionDef):
                return True
            if isinstance(s, ast.For) and self.is_from_outside(s.iter):
                return True
            if isinstance(s, ast.Assign) and self.may_hold(s.value):
                return True
        return False

    def may_hold(self, e):
        """Whether an expression may be a function, or a table of some, as far as a glance tells."""
        if isinstance(e, ast.Subscript):
            return self.may_hold(e.value)
        if isinstance(e, ast.IfExp):
            return self.may_hold(e.body) or self.may_hold(e.orelse)
        parts = e.values if isinstance(e, ast.Dict) else getattr(e, "elts", ())
        return (
            isinstance(e, ast.Lambda)
            or self.is_from_outside(e)
            or any(self.may_hold(p) for p in parts)
        )

    def is_from_outside(self, e):
        while isinstance(e, ast.Attribute):
            e = e.value
        return isinstance(e, ast.Name) and e.id not in self.locals


class _Table:
    """Functions by key, or, where there are no keys, by place."""

    def __init__(self, keys, items):
        self.keys, self.items = keys, items


class _Finder:
    """Which names hold functions that are chosen, and which tables of them."""

    def __init__(self, flattener, body):
        self.flattener, self.names, self.tables = flattener, {}, {}
        nodes = own_nodes(body)
        self.values, bound, self.inside = {}, {}, set()
        for n in nodes:
            if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                bound[n.id] = bound.get(n.id, 0) + 1
            if isinstance(n, ast.FunctionDef):
                self.inside.add(n.name)
            target = n.targets[0] if isinstance(n, ast.Assign) and len(n.targets) == 1 else None
            if isinstance(target, ast.Name):
                self.values.setdefault(target.id, []).append(n.value)
        self.inside = {n for n in self.inside if n not in bound}
        given = {a.arg for a in ast.walk(flattener.definition.args) if isinstance(a, ast.arg)}
        self.values = {
            n: v for n, v in self.values.items() if len(v) == bound[n] and n not in given
        }
        for name, values in self.values.items():
            table = self.written_table(values[0]) if len(values) == 1 else None
            if table and self.is_only_asked(name, nodes):
                self.tables[name] = table
        for name in self.values:
            found = self.of_name(name, ())
            if found and len(found) > 1:
                self.names[name] = found
        self.is_needed = any(
            isinstance(n, ast.Call) and self.of(n.func) and not self.function(n.func) for n in nodes
        ) or any(self.captured_table(n.iter) for n in nodes if isinstance(n, ast.For))

    def function(self, e):
        """Whether the expression is one function, always the same."""
        if isinstance(e, ast.Lambda):
            return True
        if isinstance(e, ast.Name) and e.id in self.flattener.locals:
            return e.id in self.inside
        if not isinstance(e, (ast.Name, ast.Attribute, Value)):
            return False
        found, value = self.flattener.resolve(e)
        return found and callable(value)

    def of(self, e, open_names=()):
        """The functions that an expression is one of, or None where it may be anything else."""
        if self.function(e):
            return [e]
        if isinstance(e, ast.Name):
            return self.of_name(e.id, open_names)
        if isinstance(e, ast.IfExp):
            parts = [self.of(e.body, open_names), self.of(e.orelse, open_names)]
            return _joined(parts) if all(parts) else None
        if isinstance(e, ast.Subscript):
            table = self.table(e.value)
            return _joined([table.items]) if table else None
        return None

    def of_name(self, name, open_names):
        if name in open_names or name not in self.values:
            return None
        parts = [self.of(v, (*open_names, name)) for v in self.values[name]]
        return _joined(parts) if all(parts) else None

    def table(self, e):
        if isinstance(e, ast.Name) and e.id in self.tables:
            return self.tables[e.id]
        return self.written_table(e) or self.captured_table(e)

    def written_table(self, e):
        if isinstance(e, ast.Dict):
            fits = e.keys and all(isinstance(k, ast.Constant) for k in e.keys)
            if not fits or not all(map(self.function, e.values)):
                return None
            items = {k.value: v for k, v in zip(e.keys, e.values, strict=True)}
            return _Table([_constant(k, e) for k in items], list(items.values()))
        if isinstance(e, (ast.List, ast.Tuple)) and isinstance(e.ctx, ast.Load):
            return _Table(None, e.elts) if e.elts and all(map(self.function, e.elts)) else None
        return None

    def captured_table(self, e):
        if not isinstance(e, (ast.Name, ast.Attribute)):
            return None
        found, value = self.flattener.resolve(e)
        kind = type(value)
        if not found or kind not in (dict, tuple, list) or not value:
            return None
        if not all(map(callable, value.values() if kind is dict else value)):
            return None
        wrap = lambda v: _at(Value(value=v, ctx=ast.Load()), e)  # noqa: E731
        if kind is not dict:
            return _Table(None, [wrap(v) for v in value])
        if not all(isinstance(k, (str, int)) for k in value):
            return None
        self.flattener.guards.append(self.flattener.place_of(e, value))
        self.flattener.guards.append((value, None, len(value)))
        for key, held in value.items():
            self.flattener.guard(value, key, held)
        return _Table([_constant(k, e) for k in value], [wrap(v) for v in value.values()])

    def is_only_asked(self, name, nodes):
        """Whether the table is read in place only: by a key, by its length, in loops."""
        uses = {id(n) for n in nodes if isinstance(n, ast.Name) and n.id == name}
        uses -= {id(n) for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for n in nodes:
            asked = None
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
                asked = n.value
            elif isinstance(n, (ast.For, ast.comprehension)):
                asked = _looped(n.iter)
            elif isinstance(n, ast.Compare) and len(n.ops) == 1:
                asked = n.comparators[0] if isinstance(n.ops[0], (ast.In, ast.NotIn)) else None
            elif isinstance(n, ast.Call) and self.flattener.builtin(n) == "len" and n.args:
                asked = n.args[0]
            uses.discard(id(asked))
        return not uses


def _looped(e):
    """The table of ``for ... in table``, or of its items, keys or values."""
    is_call = isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and not e.args
    return e.func.value if is_call and e.func.attr in ("items", "keys", "values") else e


def _same(a, b):
    if isinstance(a, Value) or isinstance(b, Value):
        return isinstance(a, Value) and isinstance(b, Value) and a.value is b.value
    return not isinstance(a, ast.Lambda) and ast.dump(a) == ast.dump(b)


def _joined(parts):
    made = []
    for e in (e for part in parts for e in part):
        if not any(e is m or _same(e, m) for m in made):
            made.append(e)
    return made


class _Chooser(Statements):
    def __init__(self, flattener, found):
        self.flattener, self.found = flattener, found
        self.lambdas, self.named = [], {}

    # ---- which one
    def called(self, e):
        """A function as calls name it: a lambda by a name of its own."""
        if not isinstance(e, ast.Lambda):
            return _copied(e)
        text = ast.dump(e) + f"{e.lineno} {e.col_offset}"
        if text not in self.named:
            self.named[text] = self.flattener.fresh("f")
            self.lambdas.append(_assign(_name(self.named[text], e, ast.Store()), e))
        return _name(self.named[text], e)

    def place(self, function, functions):
        text = ast.dump(function) + str(getattr(function, "lineno", 0))
        for k, f in enumerate(functions):
            is_lambda = isinstance(f, ast.Lambda) and isinstance(function, ast.Lambda)
            if is_lambda and ast.dump(f) + str(f.lineno) == text:
                return k
            if not is_lambda and _same(f, function):
                return k
        raise AssertionError("a function that the name does not hold")

    def number(self, e, functions):
        """The place among the functions of the one that an expression is, as an expression."""
        if self.found.function(e):
            return _constant(self.place(e, functions), e)
        if isinstance(e, ast.IfExp):
            parts = [self.number(e.body, functions), self.number(e.orelse, functions)]
            return _at(ast.IfExp(test=self.visit(e.test), body=parts[0], orelse=parts[1]), e)
        if isinstance(e, ast.Name):
            own = self.found.names.get(e.id) or self.found.of_name(e.id, ())
            if len(own) == 1:
                return _constant(self.place(own[0], functions), e)
            held = _name(e.id, e)
            return self.chain(e, held, [self.place(f, functions) for f in own])
        table = self.found.table(e.value)
        return self.looked_up(e, table, functions)

    def chain(self, e, number, values):
        """One of the values, by a number."""
        if values == list(range(len(values))):
            return number
        made = _constant(values[-1], e)
        for k, v in reversed(list(enumerate(values[:-1]))):
            made = _at(ast.IfExp(test=_equal(number, k), body=_constant(v, e), orelse=made), e)
        return made

    def looked_up(self, e, table, functions):
        key, result = self.flattener.fresh("key"), self.flattener.fresh("which")
        store = lambda k: _assign(_name(result, e, ast.Store()), _constant(k, e))  # noqa: E731
        body = [_assign(_name(key, e, ast.Store()), self.visit(e.slice))]
        count = len(table.items)
        if table.keys is None:
            negative = _at(
                ast.Compare(left=_name(key, e), ops=[ast.Lt()], comparators=[_constant(0, e)]), e
            )
            more = _at(ast.BinOp(left=_name(key, e), op=ast.Add(), right=_constant(count, e)), e)
            again = _assign(_name(key, e, ast.Store()), more)
            body.append(_at(ast.If(test=negative, body=[again], orelse=[]), e))
            keys = [_constant(k, e) for k in range(count)]
            failed = _raised(e, "IndexError", _constant("list index out of range", e))
        else:
            keys, failed = table.keys, _raised(e, "KeyError", _name(key, e))
        found = [failed]
        for k, f in reversed(list(zip(keys, table.items, strict=True))):
            test = _at(ast.Compare(left=_name(key, e), ops=[ast.Eq()], comparators=[_copied(k)]), e)
            found = [
                _at(ast.If(test=test, body=[store(self.place(f, functions))], orelse=found), e)
            ]
        return _at(Let(body=[*body, *found], value=_name(result, e)), e)

    # ---- statements
    def visit_FunctionDef(self, s):
        return s

    visit_Lambda = visit_FunctionDef

    def visit_Assign(self, s):
        one = s.targets[0] if len(s.targets) == 1 else None
        name = one.id if isinstance(one, ast.Name) else ""
        if name in self.found.names:
            return _at(
                ast.Assign(targets=[one], value=self.number(s.value, self.found.names[name])), s
            )
        if name in self.found.tables:
            return _at(ast.Pass(), s)
        return self.generic_visit(s)

    def visit_Expr(self, s):
        """A call whose result nobody takes branches as a statement."""
        parts = self.parts(s.value) if isinstance(s.value, ast.Call) else None
        if parts is None:
            return self.generic_visit(s)
        before, number, calls = parts
        made = [_at(ast.Expr(value=self.visit(calls[-1])), s)]
        for k, call in reversed(list(enumerate(calls[:-1]))):
            body = [_at(ast.Expr(value=self.visit(call)), s)]
            made = [_at(ast.If(test=_equal(number, k), body=body, orelse=made), s)]
        return [*before, *made]

    def visit_For(self, s):
        s.iter = self.items(s.iter)
        return self.generic_visit(s)

    def visit_comprehension(self, c):
        c.iter = self.items(c.iter)
        return self.generic_visit(c)

    def items(self, e):
        """What a loop over a table goes through: a tuple that is written, so that each item has its type."""
        asked = _looped(e)
        table = self.found.table(asked) if not isinstance(asked, ast.Tuple) else None
        if table is None:
            return e
        how = e.func.attr if asked is not e else ""
        if how in ("", "keys") and table.keys is not None:
            return _tuple(e, *map(_copied, table.keys))
        functions = [self.called(f) for f in table.items]
        if how != "items":
            return _tuple(e, *functions)
        pairs = zip(table.keys, functions, strict=True)
        return _tuple(e, *(_tuple(e, _copied(k), f) for k, f in pairs))

    # ---- calls
    def parts(self, e):
        """(statements in front, the number, one call for each function), or None for any other call."""
        chosen = e.func if self.is_chosen(e.func) else None
        place = None
        if chosen is None:
            place = next((k for k, a in enumerate(e.args) if self.is_chosen(a)), None)
            chosen = None if place is None else e.args[place]
        if chosen is None:
            return None
        functions = self.found.of(chosen)
        which = self.flattener.fresh("which")
        before = [_assign(_name(which, e, ast.Store()), self.number(chosen, functions))]
        args = []
        for k, a in enumerate(e.args):
            args.append(a if k == place or self.is_chosen(a) else self.kept(a, before))
        keywords = [
            _at(ast.keyword(arg=k.arg, value=self.kept(k.value, before)), k) for k in e.keywords
        ]
        calls = []
        for f in functions:
            given = [self.called(f) if k == place else _copied(a) for k, a in enumerate(args)]
            function = self.called(f) if place is None else _copied(e.func)
            calls.append(_at(ast.Call(func=function, args=given, keywords=_copied(keywords)), e))
        return before, _name(which, e), calls

    def is_chosen(self, e):
        found = self.found.of(e) if isinstance(e, (ast.Name, ast.IfExp, ast.Subscript)) else None
        return bool(found) and not self.found.function(e) and self.is_asked(e)

    def is_asked(self, e):
        """Whether the number is there: of a name that holds only one function the name itself is."""
        return not isinstance(e, ast.Name) or e.id in self.found.names

    def kept(self, e, before):
        if isinstance(e, (ast.Constant, ast.Name, ast.Lambda)):
            return e
        if isinstance(e, ast.Starred):
            return _at(ast.Starred(value=self.kept(e.value, before), ctx=ast.Load()), e)
        name = self.flattener.fresh("a")
        before.append(_assign(_name(name, e, ast.Store()), self.visit(e)))
        return _name(name, e)

    def visit_Call(self, e):
        parts = self.parts(e)
        if parts is None:
            f = e.func
            if self.flattener.builtin(e) == "len" and len(e.args) == 1:
                table = self.found.table(e.args[0])
                if table is not None and not isinstance(e.args[0], (ast.Tuple, ast.List)):
                    return _constant(len(table.items), e)
            if isinstance(f, (ast.Name, ast.Attribute)):
                e.args = [self.visit(a) for a in e.args]
                e.keywords = [self.visit(k) for k in e.keywords]
                e.func = f if isinstance(f, ast.Name) else self.visit(f)
                return e
            return self.generic_visit(e)
        before, number, calls = parts
        made = self.visit(calls[-1])
        for k, call in reversed(list(enumerate(calls[:-1]))):
            made = _at(ast.IfExp(test=_equal(number, k), body=self.visit(call), orelse=made), e)
        return _at(Let(body=before, value=made), e)

    def visit_Compare(self, e):
        if len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn)):
            table = self.found.table(e.comparators[0])
            if table is not None and table.keys is not None:
                e.comparators = [_tuple(e, *map(_copied, table.keys))]
        return self.generic_visit(e)

    def visit_Name(self, e):
        if e.id not in self.found.names or not isinstance(e.ctx, ast.Load):
            return e
        what = "a function that several paths chose, as a value"
        return _at(Refused(what=what, advice="call it, or pass it to a function that does"), e)


def _equal(number, k):
    return _at(
        ast.Compare(left=_copied(number), ops=[ast.Eq()], comparators=[_constant(k, number)]),
        number,
    )


def _raised(at, name, value):
    error = _at(Known(id=name, ctx=ast.Load()), at)
    call = _at(ast.Call(func=error, args=[value], keywords=[]), at)
    return _at(ast.Raise(exc=call, cause=None), at)
