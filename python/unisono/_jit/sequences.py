"""Rewrites of what goes over lists and cuts them: slices, ``zip(*rows)``, sums, orders."""

from __future__ import annotations

import ast

from .desugar import Known, Let, Value, _assign, _at, _call, _constant, _name
from .walks import assignments

# Builtins that take a row's items from whatever holds them.
_TAKERS = frozenset(
    "all any enumerate filter len list map max min reversed set sorted sum zip".split()
)


def _bound(n):
    """The name that a node binds, or None."""
    if isinstance(n, ast.arg):
        return n.arg
    return n.id if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) else None


class Sequences:
    """``builtin``, ``may_write``, ``kept`` and ``fresh`` are the flattener's."""

    texts = None  # names that hold one constant text

    # ---- slices
    def slice_call(self, e):
        """slice(stop) and slice(start, stop) with all three arguments; None for anything else."""
        if self.builtin(e) != "slice" or e.keywords or len(e.args) not in (1, 2):
            return None
        if any(isinstance(a, ast.Starred) for a in e.args):
            return None
        none = _constant(None, e)
        args = [none, *e.args, none] if len(e.args) == 1 else [*e.args, none]
        return _at(ast.Call(func=e.func, args=args, keywords=[]), e)

    def ordered_subscript(self, e):
        """x[a:f()] whose bounds have effects on those before them, as statements and a value; else None."""
        if not isinstance(e.slice, ast.Slice) or not isinstance(e.ctx, ast.Load):
            return None
        parts = [p for p in (e.slice.lower, e.slice.upper, e.slice.step) if p is not None]
        acts = [self.may_write(p) or _assigns(p) for p in parts]
        if not any(acts) or (len(parts) == 1 and isinstance(e.value, ast.Name) and not acts[0]):
            return None
        before = []
        name = self.fresh("x")
        before.append(_assign(_name(name, e, ast.Store()), e.value))
        kept = {}
        for field in ("lower", "upper", "step"):
            part = getattr(e.slice, field)
            if part is not None and not isinstance(part, ast.Constant):
                own = self.fresh("s")
                before.append(_assign(_name(own, part, ast.Store()), part))
                part = _name(own, part)
            kept[field] = part
        item = ast.Subscript(value=_name(name, e), slice=_at(ast.Slice(**kept), e), ctx=ast.Load())
        return _at(Let(body=before, value=_at(item, e)), e)

    def constant_key(self, e):
        """The text that a name holds all the time as a constant; anything else as it is."""
        if not isinstance(e, ast.Name) or e.id not in self.locals:
            return e
        if self.texts is None:
            body = self.definition.body
            self.texts = {
                s.targets[0].id: s.value.value
                for s in (assignments(body) if isinstance(body, list) else ())
                if isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)
            }
            nodes = ast.walk(self.definition) if self.texts else ()
            bound = [_bound(n) for n in nodes]
            self.texts = {n: text for n, text in self.texts.items() if bound.count(n) == 1}
        return _constant(self.texts[e.id], e) if e.id in self.texts else e

    # ---- what gives nothing but its items
    taken_nodes = None  # by identity
    names_of_items = frozenset()  # names that nothing else binds, of which only items are read

    def gives_items(self, e):
        """Whether nothing but the items of a node is read: also by a name that nothing else binds."""
        if self.taken_nodes is None:
            nodes = list(ast.walk(self.definition))
            taken = _taken(self, nodes)
            bound = [n for n in map(_bound, nodes) if n is not None]
            reads = [n for n in nodes if isinstance(n, ast.Name) and _bound(n) is None]
            kept = {n.id for n in reads if id(n) not in taken}
            self.names_of_items = {n for n in bound if bound.count(n) == 1} - kept
            for s in nodes:
                is_one = isinstance(s, ast.Assign) and len(s.targets) == 1
                if is_one and _bound(s.targets[0]) in self.names_of_items:
                    taken.add(id(s.value))
            self.taken_nodes = taken
            for s in nodes:
                if isinstance(s, (ast.For, ast.comprehension)) and (
                    isinstance(s.target, ast.Tuple) or _bound(s.target) in self.names_of_items
                ):
                    s.iter.gives_rows = True  # nothing but the items of its items is read
        return id(e) in self.taken_nodes

    # ---- rows
    def loop_over_columns(self, s):
        """A loop over zip(*rows) that only takes items from each column, or None."""
        e = s.iter
        rows = e.args[0].value if self.is_zip_of_rows(e) else None
        if rows is None or not isinstance(s.target, ast.Name) or not _is_taken(self, s):
            return None
        before = []
        held = self.fresh("rows")
        before.append(_assign(_name(held, e, ast.Store()), rows))
        row, place = self.fresh("row"), self.fresh("i")
        lengths = ast.comprehension(
            target=_name(row, e, ast.Store()), iter=_name(held, e), ifs=[], is_async=0
        )
        shortest = _call(
            "min", e, _at(ast.ListComp(elt=_call("len", e, _name(row, e)), generators=[lengths]), e)
        )
        none = _at(
            ast.Compare(
                left=_call("len", e, _name(held, e)), ops=[ast.Gt()], comparators=[_constant(0, e)]
            ),
            e,
        )
        count = _at(ast.IfExp(test=none, body=shortest, orelse=_constant(0, e)), e)
        other = self.fresh("row")
        item = ast.Subscript(value=_name(other, e), slice=_name(place, e), ctx=ast.Load())
        each = ast.comprehension(
            target=_name(other, e, ast.Store()), iter=_name(held, e), ifs=[], is_async=0
        )
        column = _at(ast.ListComp(elt=_at(item, e), generators=[each]), e)
        loop = ast.For(
            target=_name(place, e, ast.Store()),
            iter=_call("range", e, count),
            body=[_assign(s.target, column), *s.body],
            orelse=s.orelse,
        )
        return [*before, _at(loop, s)]

    def unzipped(self, s):
        """``xs, ys = zip(*rows)`` of a list of rows, where only items of xs and ys are read, or None."""
        target, e = s.targets[0], s.value
        is_fit = len(s.targets) == 1 and isinstance(target, ast.Tuple) and self.is_zip_of_rows(e)
        if not is_fit or hasattr(s, "is_plain"):
            return None
        self.gives_items(e)
        if not all(_bound(t) in self.names_of_items for t in target.elts):
            return None
        s.is_plain = True
        held, row = self.fresh("rows"), self.fresh("row")
        e.args[0].value, rows = _name(held, e), e.args[0].value

        def each(value):
            loop = ast.comprehension(
                target=_name(row, e, ast.Store()), iter=_name(held, e), ifs=[], is_async=0
            )
            return _at(ast.ListComp(elt=value, generators=[loop]), e)

        item = lambda k: _at(  # noqa: E731
            ast.Subscript(value=_name(row, e), slice=_constant(k, e), ctx=ast.Load()), e
        )
        from .library import want_columns

        function = _at(Value(value=want_columns, ctx=ast.Load()), e)
        widths = each(_call("len", e, _name(row, e)))
        tested = ast.Call(func=function, args=[widths, _constant(len(target.elts), e)], keywords=[])
        columns = [_assign(t, each(item(k))) for k, t in enumerate(target.elts)]
        test = _call("holds_objects", e, _name(held, e))
        body = [_at(ast.Expr(value=_at(tested, e)), e), *columns]
        choice = _at(ast.If(test=test, body=body, orelse=[s]), s)
        return [_assign(_name(held, e, ast.Store()), rows), choice]

    def is_zip_of_rows(self, e):
        one = self.builtin(e) == "zip" and len(e.args) == 1 and isinstance(e.args[0], ast.Starred)
        return one and all(
            k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value is False
            for k in e.keywords
        )

    def sum_of_lists(self, e):
        """sum(lists, []) as a list that is extended, or None."""
        is_sum = self.builtin(e) == "sum" and len(e.args) == 2 and not e.keywords
        if not is_sum or not isinstance(e.args[1], ast.List):
            return None
        result, item = self.fresh("list"), self.fresh("x")
        extend = self.changed_by(e, result, "extend", _name(item, e))
        loop = ast.For(target=_name(item, e, ast.Store()), iter=e.args[0], body=[extend], orelse=[])
        first = _assign(_name(result, e, ast.Store()), e.args[1])
        return _at(Let(body=[first, _at(loop, e)], value=_name(result, e)), e)

    # ---- orders
    def write_key(self, e):
        """key=d.get and key=str.lower of a call as lambdas."""
        k = next((k for k in e.keywords if k.arg == "key"), None)
        f = k.value if k else None
        if (
            not isinstance(f, ast.Attribute)
            or not isinstance(f.value, ast.Name)
            or self.resolve(f)[0]
        ):
            return
        is_text = self.resolve(f.value) == (True, str)
        if not is_text and (f.attr != "get" or f.value.id not in self.locals):
            return
        item = self.fresh("x")
        read = _name(item, f)
        if is_text:
            method = _at(ast.Attribute(value=read, attr=f.attr, ctx=ast.Load()), f)
            body = ast.Call(func=method, args=[], keywords=[])
        else:
            body = ast.Subscript(value=f.value, slice=read, ctx=ast.Load())
        given = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=item)], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        k.value = _at(ast.Lambda(args=given, body=_at(body, f)), f)

    def starred_print(self, e):
        """``print(*items)`` as a print of one text where `items` are no tuple, or None."""
        stars = [a.value for a in e.args if isinstance(a, ast.Starred)]
        if hasattr(e, "is_plain") or all(isinstance(s, ast.Tuple) for s in stars):
            return None
        before, args, filled, tests = [], [], [], []
        texts = self.fresh("texts")
        put = lambda v: self.changed_by(e, texts, "append", _call("str", e, v))  # noqa: E731
        for a in e.args:
            name = self.fresh("a")
            is_star = isinstance(a, ast.Starred)
            v = a.value if is_star else a
            if is_star and (isinstance(v, ast.GeneratorExp) or self.is_lazy(v)):
                v = self.as_list(v)
            before.append(_assign(_name(name, a, ast.Store()), v))
            read = _name(name, a)
            if not is_star:
                filled.append(put(read))
                args.append(read)
                continue
            item = self.fresh("x")
            target = _name(item, a, ast.Store())
            loop = ast.For(target=target, iter=read, body=[put(_name(item, a))], orelse=[])
            filled.append(_at(loop, e))
            args.append(_at(ast.Starred(value=read, ctx=ast.Load()), a))
            tests.append(_call("isinstance", e, read, _at(Known(id="tuple", ctx=ast.Load()), e)))
        plain = _at(ast.Call(func=e.func, args=args, keywords=e.keywords), e)
        plain.is_plain = True
        test = tests[0] if len(tests) == 1 else _at(ast.BoolOp(op=ast.And(), values=tests), e)
        separator = next((k.value for k in e.keywords if k.arg == "sep"), _constant(" ", e))
        join = _at(ast.Attribute(value=separator, attr="join", ctx=ast.Load()), e)
        text = _at(ast.Call(func=join, args=[_name(texts, e)], keywords=[]), e)
        others = [k for k in e.keywords if k.arg != "sep"]
        printed = _at(ast.Call(func=e.func, args=[text], keywords=others), e)
        empty = _assign(_name(texts, e, ast.Store()), _at(ast.List(elts=[], ctx=ast.Load()), e))
        listed = _at(Let(body=[empty, *filled], value=printed), e)
        return _at(Let(body=before, value=_at(ast.IfExp(test, plain, listed), e)), e)

    def extreme_of_objects(self, e, name):
        """max(x) of a name by the library where it holds texts, tuples or objects, or None."""
        given = e.args[0]
        is_made = isinstance(given, (ast.GeneratorExp, ast.ListComp))
        are_tuples = is_made and isinstance(given.elt, ast.Tuple)
        is_fit = isinstance(given, ast.Name) or are_tuples or _are_values(given)
        if not is_fit or hasattr(e, "is_plain") or self.is_kernel:
            return None
        from .library import max_of, min_of

        function = _at(Value(value=max_of if name == "max" else min_of, ctx=ast.Load()), e)
        if are_tuples:
            given = _at(ast.ListComp(elt=given.elt, generators=given.generators), e)
            return _at(ast.Call(func=function, args=[given], keywords=[]), e)
        other = _at(ast.Call(func=function, args=e.args, keywords=[]), e)
        e.is_plain = True
        test = _call("holds_objects", e, e.args[0])
        return _at(ast.IfExp(test=test, body=other, orelse=e), e)


def _assigns(e):
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(e))


def _are_values(e):
    """Whether it is ``d.values()`` of a name, which may be looked at twice."""
    is_call = isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and not e.args
    return is_call and e.func.attr == "values" and isinstance(e.func.value, ast.Name)


def _is_taken(flattener, s):
    """Whether the loop's name is only read where a list does as well as a tuple."""
    nodes = [n for b in s.body for n in ast.walk(b)]
    uses = {id(n) for n in nodes if isinstance(n, ast.Name) and n.id == s.target.id}
    return not uses - _taken(flattener, nodes)


def _taken(flattener, nodes):
    """Which nodes, by identity, give nothing but their items."""
    found = set()
    for n in nodes:
        taken = []
        if isinstance(n, ast.Call) and flattener.builtin(n) in _TAKERS:
            taken = n.args
        elif isinstance(n, ast.Call) and getattr(n.func, "attr", "") in ("join", "extend"):
            taken = n.args
        elif isinstance(n, ast.Subscript) and (
            not isinstance(n.slice, ast.Slice) or id(n) in found
        ):
            taken = [n.value]
        elif isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Tuple):
            taken = [n.value]
        elif isinstance(n, (ast.For, ast.comprehension)):
            taken = [n.iter]
        elif isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)):
            taken = n.comparators
        found |= {id(t) for t in taken}
    return found
