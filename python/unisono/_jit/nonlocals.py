"""Functions inside that assign names of the function around them.

Such a function takes these names as it takes others that it reads, and gives them back behind its result; each
call of it assigns them.
"""

from __future__ import annotations

import ast

from .cells import with_cells
from .desugar import Let, _assign, _at, _name


class Nonlocals:
    """``around``, ``locals``, ``fresh`` and ``unsupported`` are the flattener's."""

    in_try = 0  # bodies of try around a statement
    written = ()  # names around that this function assigns
    writers = {}  # the same of functions inside, by their names
    expanding = ()  # functions inside whose names are being taken

    def find_writers(self, definition):
        if "nonlocal" in self.text:
            known, around = {}, self.around
            while around is not None:
                known = {**around.writers, **known}
                around = around.around
            self.writers = _writers(definition, known)
            is_tried = self.writers and "try" in self.text
            if is_tried and isinstance(definition, ast.FunctionDef):
                self.definition = with_cells(definition, self.writers)
                self.writers = _writers(self.definition, known)

    def has_functions_inside(self):
        """Whether a name here may be that of a function inside, of this function or one around."""
        return self.around is not None or bool(
            self.functions or self.generators or self.writers or self.expanding
        )

    def names_written_by(self, name):
        """Names that a call of the function assigns here."""
        scope = self
        while scope is not None:
            if name in scope.writers:
                return scope.writers[name]
            if name in scope.locals and name not in scope.captured_names:
                return ()
            scope = scope.around
        return ()

    def writing_call(self, e):
        """inc(n) of a function that assigns `count` as `r, count = inc(n)`, then r; None for others."""
        name = e.func.id if isinstance(e.func, ast.Name) else ""
        names = self.names_written_by(name) if not hasattr(e, "is_writing") else ()
        if not names:
            return None
        if self.in_try:
            return self.odd_writer(e, names, "called in a try")
        missing = [n for n in names if n not in self.locals]
        if missing:
            return self.odd_writer(e, missing, "called in a lambda")
        others = self.shadowed(names, name)
        if others:
            return self.odd_writer(e, others, "called where the name means another variable")
        before, e = self.with_kept_arguments(e)
        result = self.fresh("r")
        e.is_writing = e.func.is_called = True
        store = [_name(n, e, ast.Store()) for n in (result, *names)]
        assigned = _assign(_at(ast.Tuple(elts=store, ctx=ast.Store()), e), e)
        return self.expression_Let(_at(Let(body=[*before, assigned], value=_name(result, e)), e))

    def shadowed(self, names, function):
        """Those that are other variables here than where the function inside is defined."""
        scope, found = self, set()
        while scope is not None and not (function in scope.functions or function in scope.writers):
            own = scope.locals - set(scope.captured_names)
            found |= {n for n in names if n in own}
            scope = scope.around
        return sorted(found)

    def odd_reader(self, e):
        """A refusal where a function inside that is read here would take other values than it should."""
        scope, may_change = self, False
        while scope is not None:
            may_change = may_change or bool(scope.writers)
            if e.id in scope.functions:
                others = self.shadowed(scope.functions[e.id], e.id)
                if may_change and others:
                    return self.odd_writer(
                        e, others, "called where the name means another variable"
                    )
                return None
            if e.id in scope.locals and e.id not in scope.captured_names:
                body = scope.definition.body
                if not may_change or scope is self or not isinstance(body, list):
                    return None
                inside = (n for n in _own_nodes(body) if isinstance(n, ast.FunctionDef))
                if any(n.name == e.id for n in inside):
                    where = "beside a function that is called above its definition"
                    return self.odd_writer(e, (), where)
                return None
            scope = scope.around
        return None

    def reading_call(self, e):
        """f(a) of a function inside that reads names which the argument assigns; None for others."""
        if not isinstance(e.func, ast.Name) or not self.names_read_by(e.func.id):
            return None
        given = [*e.args, *(k.value for k in e.keywords)]
        inside = [n for a in given for n in ast.walk(a)]
        if not (
            any(isinstance(n, ast.NamedExpr) for n in inside) or any(map(self.may_write, given))
        ):
            return None
        before, call = self.with_kept_arguments(e)
        return self.expression_Let(_at(Let(body=before, value=call), e)) if before else None

    def may_write(self, e):
        """Whether evaluating it may assign names through a function inside."""
        scope = self
        while not scope.writers:
            scope = scope.around
            if scope is None:
                return False
        calls = (n.func for n in ast.walk(e) if isinstance(n, ast.Call))
        return any(isinstance(f, ast.Name) and self.names_written_by(f.id) for f in calls)

    def may_assign(self, e):
        """The same, or by ``:=``."""
        return any(isinstance(n, ast.NamedExpr) for n in ast.walk(e)) or self.may_write(e)

    def chosen_in_branches(self, e):
        """and, or, `x if c else y` by statements: what is not evaluated assigns nothing."""
        result = self.fresh("r")
        store = lambda v: _assign(_name(result, v, ast.Store()), v)  # noqa: E731
        if isinstance(e, ast.IfExp):
            body = [_at(ast.If(test=e.test, body=[store(e.body)], orelse=[store(e.orelse)]), e)]
        else:
            body = []
            for value in reversed(e.values):
                test = _name(result, value)
                if isinstance(e.op, ast.Or):
                    test = _at(ast.UnaryOp(op=ast.Not(), operand=test), value)
                more = [_at(ast.If(test=test, body=body, orelse=[]), value)] if body else []
                body = [store(value), *more]
        return self.expression_Let(_at(Let(body=body, value=_name(result, e)), e))

    def with_kept_arguments(self, e):
        """The call behind statements that evaluate its arguments, which may change what the function reads."""
        if any(isinstance(a, ast.Starred) for a in e.args):
            return [], e
        before, kept = [], {}
        given = [*e.args, *(k.value for k in e.keywords)]
        if any(isinstance(n, (ast.Call, ast.NamedExpr)) for a in given for n in ast.walk(a)):
            kept = {id(a): self.fresh("a") for a in given if not isinstance(a, ast.Lambda)}
        for a in given:
            if id(a) in kept:
                before.append(_assign(_name(kept[id(a)], a, ast.Store()), a))
        new = lambda a: _name(kept[id(a)], a) if id(a) in kept else a  # noqa: E731
        named = [_at(ast.keyword(arg=k.arg, value=new(k.value)), k) for k in e.keywords]
        return before, _at(ast.Call(func=e.func, args=[*map(new, e.args)], keywords=named), e)

    def names_read_by(self, name):
        """Names that a function inside takes where it is called, of those here.

        Where some function assigns names around it, they are read at each call, also in another function.
        """
        scope, may_change = self, False
        while scope is not None:
            may_change = may_change or bool(scope.writers)
            if name in scope.functions:
                return scope.functions[name] if scope is self or may_change else ()
            if name in scope.locals and name not in scope.captured_names:
                return ()
            scope = scope.around
        return ()

    def captured_values(self, names, at):
        """Nodes of what a function inside takes of the names here."""
        nodes = [_name(n, at) for n in names]
        for n in nodes:
            n.is_called = True  # where a function comes with another it is not called, but can be
        return [self.expression_Name(n) for n in nodes]

    def odd_writer(self, at, names, where):
        text = ", ".join(f"'{n}'" for n in names) or "names"
        return self.unsupported(
            at,
            f"a function that assigns {text} of the function around it, {where},",
            "return the value and assign it where the function is called, or keep it in an array",
        )

    def written_result(self, at, value):
        """What a function that assigns names around it returns."""
        reads = [_name(n, at) for n in self.written]
        return _at(ast.Tuple(elts=[value, *reads], ctx=ast.Load()), at)

    def with_result(self, body):
        """The body, which ends with a return where the function assigns names around it."""
        if not self.written or isinstance(body[-1], (ast.Return, ast.Raise)):
            return body
        return [*body, _at(ast.Return(value=None), body[-1])]

    def statement_Nonlocal(self, s):
        if all(n in self.written for n in s.names):
            return self.node(s, "Pass")
        return self.unsupported(
            s,
            "nonlocal of a function that is not compiled",
            "return the value and assign it outside, or compile the function around it",
        )


def _own_nodes(body):
    """All nodes below but those of functions inside, which are given themselves."""
    for s in body:
        yield s
        if not isinstance(s, (ast.FunctionDef, ast.Lambda)):
            yield from _own_nodes(ast.iter_child_nodes(s))


def _writers(definition, known):
    """Names around that functions inside assign, themselves or through others that they call."""
    body = definition.body if isinstance(definition.body, list) else [definition.body]
    inside = [n for n in _own_nodes(body) if isinstance(n, ast.FunctionDef)]
    table = {f.name: () for f in inside}
    before = None
    while table != before:
        before = dict(table)
        for f in inside:
            found = {*table[f.name], *_assigned_around(f, {**known, **table})}
            table[f.name] = tuple(sorted(found))
    return {name: names for name, names in table.items() if names}


def _assigned_around(function, known):
    nodes = list(_own_nodes(function.body))
    declared = {name for n in nodes if isinstance(n, ast.Nonlocal) for name in n.names}
    args = function.args
    own = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    own |= {a.arg for a in (args.vararg, args.kwarg) if a}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    own -= declared
    known = {**{k: v for k, v in known.items() if k not in own}, **_writers(function, known)}
    calls = [n.func for n in nodes if isinstance(n, ast.Call)]
    for f in calls:
        if isinstance(f, ast.Name):
            declared |= set(known.get(f.id, ())) - own
    return declared
