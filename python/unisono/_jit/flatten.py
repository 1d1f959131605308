"""Flattens Python's syntax tree into plain tuples for the engine, and resolves captured names.

A node is ``(kind, line, column, end_line, end_column, text, value, children)``. `value` of a Const
is a bool, int or float, or ``(dtype name, value)`` for a NumPy scalar; of an Opaque or Unsupported
the advice; of a Function its index among the callees (-1 is the function itself); of a Closure its
index among the functions inside.
"""

from __future__ import annotations

import ast
import builtins
import cmath
import math
import types

from .. import _engine
from .._engine import CompileError
from .desugar import Desugar
from .exceptions import Exceptions
from .forms import Forms
from .generators import Generators
from .match import Match
from .python_block import PythonBlock
from .sharing import Sharing
from .signatures import spec_of
from .source import read_function
from .tables import Tables

_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_PYTHON = ("range", "len", "min", "max", "abs", "int", "float", "bool", "sum", "any", "all")
_PYTHON += ("pow", "round", "divmod", "slice", "enumerate", "zip", "reversed", "list", "sorted")
_PYTHON += ("tuple", "complex", "isinstance", "map", "filter", "print")
_PYTHON += ("str", "ord", "chr", "dict", "set")
_ADVICE = {
    "TryStar": ("except*", "write except"),
    "With": ("with", "enter it outside of the compiled function"),
    "ClassDef": ("a class", "define it outside"),
    "Import": ("import", "import outside of the compiled function"),
    "ImportFrom": ("import", "import outside of the compiled function"),
    "GeneratorExp": ("a generator", "write a loop"),
    "Yield": ("yield", "fill an array and return"),
    "YieldFrom": ("yield", "fill an array and return"),
    "Await": ("await", "call it outside"),
    "Global": ("global", "return the value and assign it outside"),
    "Nonlocal": ("nonlocal", "return the value and assign it outside"),
    "Match": ("match with this pattern", "use if and elif"),
    "AsyncFor": ("async for", "use for"),
    "AsyncWith": ("async with", "use it outside"),
}


def flatten_function(function, is_kernel, options=None):
    """Flatten a function for the engine.

    Returns
    -------
    dict
        name, file, first_line, lines, params, positional (how many can be given by position),
        vararg (index of ``*args`` or -1), defaults (node or None per parameter), declared (type or
        None per parameter, see signatures.py), result, locals (types by name), signatures, body,
        nested (functions inside, flattened; their params end with the names that they take from
        around), captures (how many), is_kernel, callees, guards (``(mapping or cell, name, value)``
        for each captured value) and options.
    """
    definition, file, first_line, lines = read_function(function)
    options = options or {}
    flattener = _Flattener(function, definition, file, first_line, lines, is_kernel, options)
    return flattener.run()


class _Flattener(Desugar, Exceptions, Forms, Generators, Match, PythonBlock, Sharing, Tables):
    def __init__(self, function, definition, file, first_line, lines, is_kernel, options):
        self.function, self.definition, self.name = function, definition, function.__name__
        self.file, self.first_line, self.lines = file, first_line, lines
        self.is_kernel, self.options = is_kernel, options
        self.callees, self.guards, self.nested, self.classes = [], [], [], []
        self.local_types = dict(options.get("locals", {}))
        self.captured_names, self.functions = [], {}
        self.around = None
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        cells = function.__closure__ or ()
        self.cells = dict(zip(code.co_freevars, cells, strict=True))

    def run(self):
        args = self.definition.args
        if args.kwarg:
            odd = args.kwarg
            raise CompileError(
                f"{self.name}: **{odd.arg} is not supported; got it at {self.file}:{odd.lineno}; "
                f"name each parameter"
            )
        body = self.definition.body
        if isinstance(self.definition, ast.Lambda):
            body = [ast.copy_location(ast.Return(value=body), body)]
        may_yield = any("yield" in line for line in self.lines)  # seldom; the tree's walk is slow
        if may_yield and any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for s in body for n in _own(s)
        ):
            raise CompileError(
                f"{self.name}: a generator is compiled where a compiled function loops over it; got "
                f"a call of it in another place, or one with return, try or functions inside, in "
                f"{self.file}:{self.definition.lineno}; write `for x in {self.name}(...)`, or fill "
                f"an array and return"
            )
        by_position = [*args.posonlyargs, *args.args]
        named = [*by_position, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
        defaults = self.defaults(args, [a.arg for a in by_position])
        flat = self.block(body)
        return {
            "name": self.name,
            "file": self.file,
            "first_line": self.first_line,
            "lines": self.lines,
            "params": [a.arg for a in named] + self.captured_names,
            "positional": len(by_position),
            "vararg": len(by_position) if args.vararg else -1,
            "defaults": [defaults.get(a.arg) for a in named] + [None] * len(self.captured_names),
            "declared": [self.annotation(a.annotation) for a in named]
            + [None] * len(self.captured_names),
            "result": self.annotation(getattr(self.definition, "returns", None)),
            "locals": self.local_types,
            "signatures": self.options.get("signatures", ()),
            "body": flat,
            "nested": self.nested,
            "captures": len(self.captured_names),
            "is_kernel": self.is_kernel,
            "callees": self.callees,
            "classes": [(c, self.class_defaults(c)) for c in self.classes],
            "guards": self.guards,
            "options": self.options,
        }

    def defaults(self, args, by_position):
        """Nodes by the names of parameters."""
        values = self.function.__defaults__ or ()
        held = dict(zip(by_position[::-1], values[::-1], strict=False))
        held.update(self.function.__kwdefaults__ or {})
        place = self.definition
        return {n: self.captured(place, f"default of {n}", v) for n, v in held.items()}

    def annotation(self, e):
        """The engine's tuple of a type that is written in the source, or None where it says none."""
        if e is None:
            return None
        found, value = self.annotated(e)
        return spec_of(value, f"{self.name}: annotation {ast.unparse(e)!r}") if found else None

    def annotated(self, e):
        """Evaluate an annotation where the function was defined; one that is no type says nothing."""
        text = e.value if isinstance(e, ast.Constant) else ast.unparse(e)
        if not isinstance(text, str):
            return text is None, None
        cells = {}
        for name, cell in self.cells.items():
            try:
                cells[name] = cell.cell_contents
            except ValueError:
                continue
        try:
            value = eval(text, self.function.__globals__, cells)
        except Exception:  # as Python does, which need not evaluate annotations at all
            value = text
        try:
            spec_of(value, "")
        except TypeError:
            return False, None
        return True, value

    # ---- functions inside
    def closure(self, at, definition, name, kept_in=None):
        """A function defined inside: a node that captures what it reads of the names around it.

        One that is kept in a name reads them where that name is read.
        """
        inner = _Nested(self, definition, name, kept_in)
        self.nested.append(inner.run())
        names = inner.captured_names
        if kept_in:
            self.functions[kept_in] = names
        children = [self.expression_Name(_name_at(n, at)) for n in names]
        kind = "KeptClosure" if kept_in else "Closure"
        return self.node(at, kind, children, name, len(self.nested) - 1)

    def statement_FunctionDef(self, s):
        if s.decorator_list:
            return self.unsupported(
                s.decorator_list[0], "a decorator inside", "leave it out, or define it outside"
            )
        node = self.closure(s, s, s.name, s.name)
        target = _name_at(s.name, s)
        target.ctx = ast.Store()
        return self.node(s, "Assign", [self.expression_Name(target), node])

    def expression_Lambda(self, e):
        return self.closure(e, e, "<lambda>")

    # ---- nodes
    def node(self, at, kind, children=(), text="", value=None):
        line = getattr(at, "lineno", self.definition.lineno)
        column = getattr(at, "col_offset", self.definition.col_offset)
        end_line = getattr(at, "end_lineno", line)
        end_column = getattr(at, "end_col_offset", column + 1)
        return (kind, line, column, end_line, end_column, text, value, tuple(children))

    def block(self, statements):
        first = statements[0] if statements else self.definition
        return self.node(first, "Block", [n for s in statements for n in self.statements(s)])

    def statements(self, s):
        """The nodes of one statement: several where it is written with simpler ones."""
        if isinstance(s, ast.Delete) and len(s.targets) > 1:
            return [
                self.statement(ast.copy_location(ast.Delete(targets=[t]), s)) for t in s.targets
            ]
        if isinstance(s, ast.For):
            nodes = self.reduced_loop(s)
            if nodes is not None:
                return nodes
            plain = self.loop_over_generator(s)
            if plain is not None:
                return [n for p in plain for n in self.statements(p)]
            plain = self.plain_loop(s)
            if plain is not None:
                return [*map(self.statement, plain)]
        if isinstance(s, ast.With):
            from . import lock, tasks

            if self.is_with(s, lock):
                return self.locked(s)
            if self.is_with(s, tasks):
                return self.task_group(s)
        if isinstance(s, ast.Match):
            plain = self.chain(s)
            if plain is not None:
                return [n for p in plain for n in self.statements(p)]
        return [self.statement(s)]

    def unsupported(self, at, what=None, advice=""):
        if what is None:
            name = type(at).__name__
            what, advice = _ADVICE.get(name, (name.lower(), "rewrite it with numbers and arrays"))
        return self.node(at, "Unsupported", text=what, value=advice)

    # ---- statements
    def statement(self, s):
        method = getattr(self, f"statement_{type(s).__name__}", None)
        return method(s) if method else self.unsupported(s)

    def statement_Assign(self, s):
        one = s.targets[0] if len(s.targets) == 1 else None
        if isinstance(s.value, ast.Lambda) and isinstance(one, ast.Name):
            node = self.closure(s.value, s.value, "<lambda>", one.id)
            return self.node(s, "Assign", [self.expression(one), node])
        return self.node(s, "Assign", [*map(self.expression, s.targets), self.expression(s.value)])

    def statement_AnnAssign(self, s):
        spec = self.annotation(s.annotation)
        if spec is not None and isinstance(s.target, ast.Name):
            self.local_types[s.target.id] = spec
        if s.value is None:
            return self.node(s, "Pass")
        return self.node(s, "Assign", [self.expression(s.target), self.expression(s.value)])

    def statement_AugAssign(self, s):
        children = [self.expression(s.target), self.expression(s.value)]
        return self.node(s, "AugAssign", children, _BINARY[type(s.op)])

    def statement_For(self, s):
        children = [self.expression(s.target), self.expression(s.iter), self.block(s.body)]
        return self.node(s, "For", [*children, *self.otherwise(s)])

    def statement_While(self, s):
        children = [self.expression(s.test), self.block(s.body), *self.otherwise(s)]
        return self.node(s, "While", children)

    def otherwise(self, s):
        return [self.block(s.orelse)] if s.orelse else []

    def statement_If(self, s):
        children = [self.expression(s.test), self.block(s.body), self.block(s.orelse)]
        return self.node(s, "If", children)

    def statement_Return(self, s):
        is_none = s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None)
        return self.node(s, "Return", [] if is_none else [self.expression(s.value)])

    def statement_Break(self, s):
        return self.node(s, "Break")

    def statement_Continue(self, s):
        return self.node(s, "Continue")

    def statement_Pass(self, s):
        return self.node(s, "Pass")

    def statement_With(self, s):
        call = s.items[0].context_expr
        if len(s.items) == 1 and s.items[0].optional_vars is None and isinstance(call, ast.Call):
            from . import parallel, python

            found, value = self.resolve(call.func)
            if found and value is python and not call.args and not call.keywords:
                return self.python_block(s)
            threads = [*call.args, *(k.value for k in call.keywords)]
            named = all(k.arg == "num_threads" for k in call.keywords)
            if found and value is parallel and len(threads) <= 1 and named:
                none = ast.copy_location(ast.Constant(value=None), s)
                count = self.expression(threads[0] if threads else none)
                self.in_region += 1
                body = self.block(s.body)
                self.in_region -= 1
                return self.node(s, "Region", [count, body])
        return self.unsupported(s)

    def statement_Expr(self, s):
        return self.node(s, "Evaluate", [self.expression(s.value)])

    def statement_Delete(self, s):
        (t,) = s.targets
        if isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Slice):
            return self.delete_item(t)
        if not isinstance(t, ast.Name):
            return self.unsupported(t, "del of anything but a name or an item", "leave it out")
        return self.node(s, "Delete", [self.expression(t)])

    def statement_Assert(self, s):
        children = [self.expression(s.test)]
        if s.msg is not None:
            children.append(self.expression(s.msg))
        return self.node(s, "Assert", children)

    # ---- expressions
    def expression(self, e):
        method = getattr(self, f"expression_{type(e).__name__}", None)
        return method(e) if method else self.unsupported(e)

    def expression_Constant(self, e):
        return self.captured(e, repr(e.value), e.value)

    def expression_Name(self, e):
        if e.id in self.locals:
            # A function defined inside reads names of ours where it is called.
            names = self.functions.get(e.id, ()) if isinstance(e.ctx, ast.Load) else ()
            children = [self.expression_Name(_name_at(n, e)) for n in names]
            return self.node(e, "Name", children, e.id)
        if self.is_itself(e.id):
            return self.node(e, "Function", text=e.id, value=-1)
        found, value = self.resolve(e)
        if not found:
            advice = "use range" if e.id == "xrange" else "is it spelled right?"
            return self.node(e, "Opaque", text=e.id, value=f"it is not defined; {advice}")
        return self.captured(e, e.id, value)

    def expression_Attribute(self, e):
        found, value = self.resolve(e)
        if found:
            return self.captured(e, ast.unparse(e), value)
        return self.node(e, "Attribute", [self.expression(e.value)], e.attr)

    def expression_BinOp(self, e):
        plain = self.percent_format(e)
        if plain is not None:
            return self.expression(plain)
        children = [self.expression(e.left), self.expression(e.right)]
        return self.node(e, "BinOp", children, _BINARY[type(e.op)])

    def expression_UnaryOp(self, e):
        return self.node(e, "UnaryOp", [self.expression(e.operand)], _UNARY[type(e.op)])

    def expression_BoolOp(self, e):
        text = "and" if isinstance(e.op, ast.And) else "or"
        return self.node(e, "BoolOp", map(self.expression, e.values), text)

    def expression_Compare(self, e):
        plain = self.in_range(e)
        if plain is not None:
            return self.expression(plain)
        text = " ".join(_COMPARE[type(op)] for op in e.ops)
        return self.node(e, "Compare", map(self.expression, [e.left, *e.comparators]), text)

    def expression_IfExp(self, e):
        return self.node(e, "IfExp", map(self.expression, [e.test, e.body, e.orelse]))

    def expression_Known(self, e):
        return self.node(e, "Builtin", text=e.id)

    def expression_Let(self, e):
        return self.node(e, "Let", [self.block(e.body), self.expression(e.value)])

    def expression_Call(self, e):
        plain = self.reduced(e) or self.mapped(e) or self.table_call(e) or self.formed_call(e)
        if plain is not None:
            return self.expression(plain)
        args = [
            ast.copy_location(ast.ListComp(elt=a.elt, generators=a.generators), a)
            if isinstance(a, ast.GeneratorExp)
            else a
            for a in e.args
        ]
        if self.is_array_function(e.func):
            args = [self.as_tuple(a) for a in args]
        func = self.expression(e.func)
        if self.builtin(e) == "sorted":
            from .library import sorted_by, sorted_list

            has_key = any(k.arg == "key" for k in e.keywords)
            func = self.captured(e.func, "sorted", sorted_by if has_key else sorted_list)
        children = [func, *map(self.expression, args)]
        for k in e.keywords:
            if k.arg is None:
                return self.unsupported(k.value, "** in a call", "name each argument")
            children.append(self.node(k, "Keyword", [self.expression(k.value)], k.arg))
        return self.node(e, "Call", children)

    def is_array_function(self, e):
        """Whether a call of it takes sequences as NumPy does: lists are tuples to it."""
        found, value = self.resolve(e)
        name = _known_name(value) if found else None
        return name is not None and name.startswith(("np.", "un."))

    def as_tuple(self, e):
        if not isinstance(e, ast.List) or any(isinstance(i, ast.Starred) for i in e.elts):
            return e
        items = [self.as_tuple(i) for i in e.elts]
        return ast.copy_location(ast.Tuple(elts=items, ctx=ast.Load()), e)

    def expression_Subscript(self, e):
        text = "iteration" if getattr(e, "is_iteration", False) else ""
        return self.node(e, "Subscript", [self.expression(e.value), *self.index(e.slice)], text)

    def index(self, e):
        if isinstance(e, ast.Tuple) and e.elts:
            return [self.expression(item) for item in e.elts]
        return [self.expression(e)]

    def expression_Slice(self, e):
        none = ast.copy_location(ast.Constant(value=None), e)
        parts = (e.lower or none, e.upper or none, e.step or none)
        return self.node(e, "Slice", map(self.expression, parts))

    def expression_List(self, e):
        return self.node(e, "List", map(self.expression, e.elts))

    def expression_ListComp(self, e):
        return self.expression(self.filled_list(e))

    def expression_NamedExpr(self, e):
        children = [self.expression(e.target), self.expression(e.value)]
        return self.node(e, "NamedExpr", children)

    def expression_JoinedStr(self, e):
        parts = []
        for v in e.values:
            if isinstance(v, ast.Constant):
                parts.append(self.node(v, "Text", text=v.value))
                continue
            spec = v.format_spec
            fixed = spec is None or all(isinstance(s, ast.Constant) for s in spec.values)
            if (
                not fixed
                or v.conversion not in (-1, ord("r"), ord("s"))
                or (spec and v.conversion != -1)
            ):
                return self.unsupported(v, "this format", 'write a plain one, as in f"{x:.3f}"')
            text = "".join(s.value for s in spec.values) if spec else ""
            shown = {ord("r"): "r", ord("s"): "s"}.get(v.conversion)
            parts.append(self.node(v, "FormattedValue", [self.expression(v.value)], text, shown))
        return self.node(e, "Format", parts)

    def expression_Starred(self, e):
        return self.node(e, "Starred", [self.expression(e.value)])

    def expression_Tuple(self, e):
        return self.node(e, "Tuple", map(self.expression, e.elts))

    def class_defaults(self, cls):
        """Nodes of the values that fields have where a call gives none."""
        from .classes import defaults

        held = defaults(cls)
        return {
            k: self.captured(self.definition, f"default of field {k}", v) for k, v in held.items()
        }

    # ---- captured values
    def resolve(self, e):
        """Return (whether the name leads outside of the function, what it stands for now)."""
        if isinstance(e, ast.Name):
            return self.resolve_name(e.id)
        if not isinstance(e, ast.Attribute):
            return False, None
        found, owner = self.resolve(e.value)
        is_module = isinstance(owner, types.ModuleType) or hasattr(
            owner, "_holds_compiled_functions"
        )
        if not found or not is_module or not hasattr(owner, e.attr):
            return False, None
        if e.attr in getattr(owner, "_variables", ()):  # of C text: it changes behind our back
            return False, None
        value = getattr(owner, e.attr)
        self.guard(vars(owner), e.attr, value)
        return True, value

    def is_itself(self, name):
        """Whether the name is the function's own, before anything is bound to it."""
        scope = self.function.__globals__
        if name != self.name or name in scope or hasattr(builtins, name):
            return False
        try:
            return name not in self.cells or self.cells[name].cell_contents is None
        except ValueError:
            return True

    def resolve_name(self, name):
        if name in self.locals:
            return False, None
        if name in self.cells:
            try:
                value = self.cells[name].cell_contents
            except ValueError:
                return False, None
            self.guard(self.cells[name], name, value)
            return True, value
        scope = self.function.__globals__
        if name in scope:
            self.guard(scope, name, scope[name])
            return True, scope[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def guard(self, owner, name, value):
        """Note a value that a later call must still find."""
        form = _compiled_form(value)
        is_value = isinstance(form, (bool, int, float, complex, tuple, str, _engine.Dispatcher))
        is_class = _is_known_class(value) or _is_known_class(type(value))
        if is_value or is_class or _is_numpy_scalar(value):
            self.guards.append((owner, name, value))

    def captured(self, at, name, value):
        value = _compiled_form(value)
        if value is None:
            return self.node(at, "NoneValue")
        if value is ...:
            return self.node(at, "Builtin", text="Ellipsis")
        if isinstance(value, str):
            return self.node(at, "Text", text=value)
        kind = type(value)
        if kind is int and not -(2**63) <= value < 2**63:
            return self.unsupported(
                at, f"the integer {value}", "integers are 64 bits wide in compiled functions"
            )
        if kind is complex:
            parts = [self.node(at, "Const", value=p) for p in (value.real, value.imag)]
            return self.node(at, "Call", [self.node(at, "Builtin", text="complex"), *parts])
        if _is_numpy_scalar(value) and value.dtype.kind == "c":
            number = self.captured(at, name, value.item())
            dtype = self.node(at, "Builtin", text=f"dtype:{value.dtype.name}")
            return self.node(at, "Call", [dtype, number])
        if kind in (bool, int, float):
            return self.node(at, "Const", value=value)
        if isinstance(value, tuple) and _is_known_class(kind):
            items = [
                self.captured(at, f"{name}.{f}", item)
                for f, item in zip(kind._fields, value, strict=True)
            ]
            return self.node(at, "Call", [self.captured(at, kind.__name__, kind), *items])
        if _is_known_class(kind):
            from .classes import describe

            if describe(kind)["form"] in ("instance", "object"):
                advice = (
                    f"it is an object of {kind.__name__}, which may change; pass it as an argument"
                )
                return self.node(at, "Opaque", text=name, value=advice)
            fields = describe(kind)["fields"]
            items = [
                self.node(at, "Keyword", [self.captured(at, f"{name}.{f}", getattr(value, f))], f)
                for f in fields
            ]
            return self.node(at, "Call", [self.captured(at, kind.__name__, kind), *items])
        if kind is tuple:
            items = [self.captured(at, f"{name}[{i}]", item) for i, item in enumerate(value)]
            return self.node(at, "Tuple", items)
        if _is_numpy_scalar(value) and _is_known_dtype(value.dtype.name):
            return self.node(at, "Const", value=(value.dtype.name, value.item()))
        if isinstance(value, _engine.Dispatcher):
            index = next((i for i, c in enumerate(self.callees) if c is value), len(self.callees))
            if index == len(self.callees):
                self.callees.append(value)
            return self.node(at, "Function", text=name, value=index)
        known = _known_name(value)
        if known:
            return self.node(at, "Builtin", text=known)
        if _is_known_class(value):
            if value not in self.classes:
                self.classes.append(value)
            return self.node(at, "Class", text=name, value=self.classes.index(value))
        return self.node(at, "Opaque", text=name, value=f"it is {_what(value)}")


def _compiled_form(value):
    """What a call in compiled code runs of an object that another decorator made; else the object itself."""
    if callable(value):
        from .overload import implementation_of

        other = implementation_of(value)
        if other is not None:
            return other
    return getattr(type(value), "_in_compiled_code", None) and value._in_compiled_code or value


class _Nested(_Flattener):
    """A function inside of another: names of the one around are parameters behind its own."""

    def __init__(self, around, definition, name, kept_in):
        self.around, self.definition, self.name = around, definition, name
        self.kept_in = kept_in
        self.function, self.cells = around.function, around.cells
        self.file, self.first_line, self.lines = around.file, around.first_line, around.lines
        self.is_kernel, self.options = False, {**around.options, "signatures": ()}
        self.callees, self.guards, self.nested = around.callees, around.guards, []
        self.classes = around.classes
        self.local_types, self.captured_names, self.functions = {}, [], {}
        args = definition.args
        self.locals = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        self.locals |= {a.arg for a in (args.vararg, args.kwarg) if a}
        body = definition.body if isinstance(definition.body, list) else [definition.body]
        self.locals |= {name for s in body for name in _assigned(s)}

    def fresh(self, hint):
        name = self.around.fresh(hint)
        self.locals.add(name)
        return name

    def defaults(self, args, by_position):
        held = dict(zip(by_position[::-1], args.defaults[::-1], strict=False))
        pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        held.update({a.arg: d for a, d in pairs if d is not None})
        return {name: self.default(name, e) for name, e in held.items()}

    def default(self, name, e):
        node = self.around.expression(e)
        if node[0] in ("Const", "Text", "NoneValue", "Function", "Builtin"):
            return node
        return self.unsupported(
            e,
            f"the default of '{name}', which is computed where the function is defined",
            "give the argument in the call",
        )

    def is_itself(self, name):
        return name == self.kept_in and name not in self.locals

    def resolve_name(self, name):
        if name in self.locals:
            return False, None
        if self.is_local_around(name):
            return False, None
        return self.around.resolve_name(name)

    def is_local_around(self, name):
        around = self.around
        while around is not None:
            if name in around.locals:
                return True
            around = around.around
        return False

    def expression_Name(self, e):
        if e.id not in self.locals and not self.is_itself(e.id) and self.is_local_around(e.id):
            self.captured_names.append(e.id)
            self.locals.add(e.id)
        return super().expression_Name(e)


def _own(node):
    """The node and all below it, but for what belongs to functions inside."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield from _own(child)


def _assigned(s):
    """Names that a statement binds in its function."""
    if isinstance(s, ast.FunctionDef):
        yield s.name
        return
    for n in _own(s):
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            yield n.id
        elif isinstance(n, (ast.MatchAs, ast.ExceptHandler)) and n.name:
            yield n.name
        for child in ast.iter_child_nodes(n):
            if isinstance(child, ast.FunctionDef):
                yield child.name


def _name_at(name, place):
    return ast.copy_location(ast.Name(id=name, ctx=ast.Load()), place)


def _is_known_class(value):
    """Whether it is a class that compiled code can make objects of."""
    if not isinstance(value, type) or value.__module__.split(".")[0] in ("builtins", "numpy"):
        return False
    from .classes import describe

    return describe(value) is not None


def _what(value):
    if isinstance(value, types.FunctionType):
        return "a Python function"
    if isinstance(value, types.BuiltinFunctionType):
        return "a function that compiled code does not know"
    if isinstance(value, types.ModuleType):
        return "a module"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _is_numpy_scalar(value):
    kind = type(value)
    return (
        kind.__module__ == "numpy"
        and hasattr(value, "dtype")
        and hasattr(value, "item")
        and (kind.__name__ != "ndarray")
    )


def _known_name(value):
    """The engine's name of a function or dtype that it knows, else None."""
    name = getattr(value, "__name__", None)
    if type(value).__name__ == "MGridClass":
        return "np.mgrid"
    if name is None:
        name = getattr(value, "name", None)  # a dtype object
        return f"dtype:{name}" if _is_dtype(value) and _is_known_dtype(name) else None
    if getattr(builtins, name, None) is value:
        return name if name in _PYTHON else None
    if getattr(math, name, None) is value:
        return f"math.{name}"
    if getattr(cmath, name, None) is value:
        return f"cmath.{name}"
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, type):
        plain = name.rstrip("_")
        if module in ("numpy", "unisono") and plain == "ndarray":
            return "np.ndarray"
        if module == "numpy" and name in ("integer", "floating"):
            return f"np.{name}"
        return f"dtype:{plain}" if module == "numpy" and _is_known_dtype(plain) else None
    if module == "unisono.atomic":
        return f"atomic.{name}"
    if module == "dataclasses" and name == "replace":
        return "dataclasses.replace"
    home = (module or type(value).__module__).split(".")[0]
    return {"unisono": f"un.{name}", "numpy": f"np.{name}"}.get(home)


def _is_known_dtype(name):
    from .. import _dtypes

    return name in _dtypes._table


def _is_dtype(value):
    return type(value).__name__ == "dtype" or type(value).__name__.endswith("DType")
