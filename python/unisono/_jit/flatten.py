"""Flattens Python's syntax tree into plain tuples for the engine, and resolves captured names.

A node is ``(kind, line, column, end_line, end_column, text, value, children)``. `value` of a Const
is a bool, int or float, or ``(dtype name, value)`` for a NumPy scalar; of an Opaque or Unsupported
the advice; of a Function its index among the callees.
"""

from __future__ import annotations

import ast
import builtins
import math
import types

from .. import _engine
from .._engine import CompileError
from .desugar import Desugar
from .source import read_function

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
_PYTHON += ("pow", "round", "divmod", "slice", "enumerate", "zip", "reversed")
_ADVICE = {
    "Try": ("try", "test for the error before it happens, or catch it around the call"),
    "With": ("with", "enter it outside of the compiled function"),
    "Lambda": ("a lambda", "define a function with @un.jit"),
    "FunctionDef": ("a nested function", "define it outside, with @un.jit"),
    "ClassDef": ("a class", "define it outside"),
    "Import": ("import", "import outside of the compiled function"),
    "ImportFrom": ("import", "import outside of the compiled function"),
    "ListComp": ("a list comprehension", "fill an array in a loop"),
    "GeneratorExp": ("a generator", "write a loop"),
    "SetComp": ("a set", "use an array"),
    "DictComp": ("a dict", "use arrays"),
    "List": ("a list", "use a tuple, or an array passed as an argument"),
    "Dict": ("a dict", "use arrays or a tuple"),
    "Set": ("a set", "use an array"),
    "JoinedStr": ("a formatted string", "use a constant text"),
    "Yield": ("yield", "fill an array and return"),
    "YieldFrom": ("yield", "fill an array and return"),
    "Await": ("await", "call it outside"),
    "Global": ("global", "return the value and assign it outside"),
    "Nonlocal": ("nonlocal", "return the value and assign it outside"),
    "Delete": ("del", "leave it out: locals end with the function"),
    "NamedExpr": (":=", "assign in a statement of its own"),
    "Starred": ("a starred expression", "write the items out"),
    "Match": ("match on more than literals", "use if and elif"),
    "AsyncFor": ("async for", "use for"),
    "AsyncWith": ("async with", "use it outside"),
}


def flatten_function(function, is_kernel):
    """Flatten a function for the engine.

    Returns
    -------
    tuple
        ``(name, file, first line, lines, parameters, defaults, body, is_kernel, callees, guards)``.
        `guards` lists ``(mapping or cell, name, value)`` for each captured value.
    """
    definition, file, first_line, lines = read_function(function)
    return _Flattener(function, definition, file, first_line, lines, is_kernel).run()


class _Flattener(Desugar):
    def __init__(self, function, definition, file, first_line, lines, is_kernel):
        self.function, self.definition = function, definition
        self.file, self.first_line, self.lines = file, first_line, lines
        self.is_kernel = is_kernel
        self.callees, self.guards = [], []
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        cells = function.__closure__ or ()
        self.cells = dict(zip(code.co_freevars, cells, strict=True))

    def run(self):
        args = self.definition.args
        odd = args.vararg or args.kwarg or (args.kwonlyargs and args.kwonlyargs[0])
        if odd:
            raise CompileError(
                f"{self.function.__name__}: *args, **kwargs and keyword-only parameters are not "
                f"supported; got '{odd.arg}' at {self.file}:{odd.lineno}; name each parameter"
            )
        if self.definition.body and any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(self.definition)
        ):
            raise CompileError(
                f"{self.function.__name__}: a generator cannot be compiled; got yield in "
                f"{self.file}:{self.definition.lineno}; fill an array and return"
            )
        params = [a.arg for a in (*args.posonlyargs, *args.args)]
        place = self.definition.args if params else self.definition
        defaults = [
            self.captured(place, f"default of {p}", value)
            for p, value in zip(
                params[::-1], (self.function.__defaults__ or ())[::-1], strict=False
            )
        ][::-1]
        body = self.block(self.definition.body)
        return (
            self.function.__name__,
            self.file,
            self.first_line,
            self.lines,
            params,
            defaults,
            body,
            self.is_kernel,
            self.callees,
            self.guards,
        )

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
        if isinstance(s, ast.For):
            plain = self.plain_loop(s)
            if plain is not None:
                return [*map(self.statement, plain)]
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
        return self.node(s, "Assign", [*map(self.expression, s.targets), self.expression(s.value)])

    def statement_AnnAssign(self, s):
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

    def statement_Expr(self, s):
        return self.node(s, "Evaluate", [self.expression(s.value)])

    def statement_Raise(self, s):
        if s.exc is None or s.cause is not None:
            return self.unsupported(s, "this form of raise", 'write raise ValueError("text")')
        call = s.exc if isinstance(s.exc, ast.Call) else None
        name = call.func if call else s.exc
        if not isinstance(name, ast.Name) or (call and (len(call.args) > 1 or call.keywords)):
            return self.unsupported(s, "this form of raise", 'write raise ValueError("text")')
        children = [self.expression(a) for a in call.args] if call else []
        return self.node(s, "Raise", children, name.id)

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
            return self.node(e, "Name", text=e.id)
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
        children = [self.expression(e.left), self.expression(e.right)]
        return self.node(e, "BinOp", children, _BINARY[type(e.op)])

    def expression_UnaryOp(self, e):
        return self.node(e, "UnaryOp", [self.expression(e.operand)], _UNARY[type(e.op)])

    def expression_BoolOp(self, e):
        text = "and" if isinstance(e.op, ast.And) else "or"
        return self.node(e, "BoolOp", map(self.expression, e.values), text)

    def expression_Compare(self, e):
        text = " ".join(_COMPARE[type(op)] for op in e.ops)
        return self.node(e, "Compare", map(self.expression, [e.left, *e.comparators]), text)

    def expression_IfExp(self, e):
        return self.node(e, "IfExp", map(self.expression, [e.test, e.body, e.orelse]))

    def expression_Known(self, e):
        return self.node(e, "Builtin", text=e.id)

    def expression_Let(self, e):
        return self.node(e, "Let", [self.block(e.body), self.expression(e.value)])

    def expression_Call(self, e):
        plain = self.reduced(e)
        if plain is not None:
            return self.expression(plain)
        args = e.args
        if self.is_array_function(e.func):
            args = [self.as_tuple(a) for a in args]
        children = [self.expression(e.func), *map(self.expression, args)]
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
        return self.node(e, "Subscript", [self.expression(e.value), *self.index(e.slice)])

    def index(self, e):
        if isinstance(e, ast.Tuple) and e.elts:
            return [self.expression(item) for item in e.elts]
        return [self.expression(e)]

    def expression_Slice(self, e):
        none = ast.copy_location(ast.Constant(value=None), e)
        parts = (e.lower or none, e.upper or none, e.step or none)
        return self.node(e, "Slice", map(self.expression, parts))

    def expression_Tuple(self, e):
        return self.node(e, "Tuple", map(self.expression, e.elts))

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
        value = getattr(owner, e.attr)
        self.guard(vars(owner), e.attr, value)
        return True, value

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
        is_value = isinstance(form, (bool, int, float, tuple, _engine.Dispatcher))
        if is_value or _is_numpy_scalar(value):
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
        if kind in (bool, int, float):
            return self.node(at, "Const", value=value)
        if kind is tuple:
            items = [self.captured(at, f"{name}[{i}]", item) for i, item in enumerate(value)]
            return self.node(at, "Tuple", items)
        if _is_numpy_scalar(value) and _is_known_dtype(value.dtype.name):
            return self.node(at, "Const", value=(value.dtype.name, value.item()))
        if isinstance(value, _engine.Dispatcher):
            if not any(value is c for c in self.callees):
                self.callees.append(value)
            index = next(i for i, c in enumerate(self.callees) if c is value)
            return self.node(at, "Function", text=name, value=index)
        known = _known_name(value)
        if known:
            return self.node(at, "Builtin", text=known)
        return self.node(at, "Opaque", text=name, value=f"it is {_what(value)}")


def _compiled_form(value):
    """What a call in compiled code runs of an object that another decorator made; else the object itself."""
    return getattr(type(value), "_in_compiled_code", None) and value._in_compiled_code or value


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
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, type):
        plain = name.rstrip("_")
        if module in ("numpy", "unisono") and plain == "ndarray":
            return "np.ndarray"
        return f"dtype:{plain}" if module == "numpy" and _is_known_dtype(plain) else None
    home = (module or type(value).__module__).split(".")[0]
    return {"unisono": f"un.{name}", "numpy": f"np.{name}"}.get(home)


def _is_known_dtype(name):
    from .. import _dtypes

    return name in _dtypes._table


def _is_dtype(value):
    return type(value).__name__ == "dtype" or type(value).__name__.endswith("DType")
