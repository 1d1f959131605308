"""Flattens ``with un.python():`` blocks, which the interpreter runs."""

from __future__ import annotations

import ast

from .. import _engine
from .desugar import Known, _at, _name

_LEAVING = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Await)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class PythonBlock:
    """``resolve``, ``locals`` and ``statement`` are the flattener's."""

    def python_block(self, s):
        """A call of the interpreter whose result is assigned to what the block assigns."""
        odd = next((n for n in _own_nodes(s.body) if isinstance(n, _LEAVING)), None)
        odd = odd or _leaves_loop(s.body)
        if odd is not None:
            what = type(odd).__name__.lower()
            return self.unsupported(
                odd,
                f"{what} in un.python()",
                "store the decision in a variable, and act on it after the block",
            )
        for n in _own_nodes(s.body):
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name):
                is_text = ast.unparse(n.annotation) in ("str", "'str'")
                spec = ("text",) if is_text else self.annotation(n.annotation)
                if spec is not None:
                    self.local_types[n.target.id] = spec
        stored, read = _names(s.body)
        used = _uses_outside(self.definition, s)
        outs = [n for n in stored if n in used]
        before = self.assigned_before(s)
        takes = [n for n in dict.fromkeys((*read, *outs)) if n in self.locals and n in before]
        number = _engine._python_block(self.block_function(s, takes, outs))
        args = [_at(ast.Constant(value=v), s) for v in (number, " ".join(outs))]
        known = _at(Known(id="python_block", ctx=ast.Load()), s)
        call = ast.Call(func=known, args=[*args, *(_name(n, s) for n in takes)], keywords=[])
        call = _at(call, s)
        if not outs:
            return self.statement(_at(ast.Expr(value=call), s))
        target = ast.Tuple(elts=[_name(n, s, ast.Store()) for n in outs], ctx=ast.Store())
        return self.statement(_at(ast.Assign(targets=[_at(target, s)], value=call), s))

    def assigned_before(self, s):
        """Names that have a value where the block begins, as far as the order of lines tells."""
        args = self.definition.args
        names = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        names |= {a.arg for a in (args.vararg, args.kwarg) if a}
        begin = (s.lineno, s.col_offset)
        for n in ast.walk(self.definition):
            is_stored = isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            if is_stored and (n.lineno, n.col_offset) < begin:
                names.add(n.id)
        return names

    def block_function(self, s, takes, outs):
        """The block as a Python function of what it reads, in the scope of the function around."""
        result = ast.Tuple(elts=[_name(n, s) for n in outs], ctx=ast.Load())
        body = [*s.body, _at(ast.Return(value=_at(result, s)), s)]
        name = f"{self.name}_python"
        cells = {}
        for n, cell in self.cells.items():
            try:
                cells[n] = cell.cell_contents
            except ValueError:
                continue
        outer = _function("__scope", cells, [_function(name, takes, body, s)], s)
        outer.body.append(_at(ast.Return(value=_name(name, s)), s))
        module = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
        made = {}
        exec(compile(module, self.file, "exec"), self.function.__globals__, made)
        return made["__scope"](**cells)


def _function(name, params, body, place):
    made = ast.parse(f"def {name}({', '.join(params)}): pass").body[0]
    made.body = body
    return _at(made, place)


def _own_nodes(body):
    """Nodes of the block, but for those of functions and classes inside."""
    for s in body:
        yield s
        if not isinstance(s, _SCOPES):
            yield from _own_nodes(ast.iter_child_nodes(s))


def _leaves_loop(nodes, depth=0):
    """A break or continue of a loop around the block, or None."""
    for n in nodes:
        if isinstance(n, (ast.Break, ast.Continue)) and depth == 0:
            return n
        if isinstance(n, _SCOPES):
            continue
        inside = depth + isinstance(n, (ast.For, ast.While))
        found = _leaves_loop(ast.iter_child_nodes(n), inside)
        if found is not None:
            return found
    return None


def _names(body):
    """(names that the block assigns, names that it reads), in order."""
    stored, read = {}, {}
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.Name):
                (read if isinstance(n.ctx, ast.Load) else stored)[n.id] = True
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                read[n.target.id] = True
    return list(stored), list(read)


def _uses_outside(definition, s):
    inside = {id(n) for n in ast.walk(s)}
    names = (n for n in ast.walk(definition) if isinstance(n, ast.Name))
    return {n.id for n in names if id(n) not in inside}
