"""Flattens Python's syntax tree into plain tuples for the engine, and resolves captured names.

A node is ``(kind, line, column, end_line, end_column, text, value, children)``. `value` of a Const
is a bool, int or float, or ``(dtype name, value)`` for a NumPy scalar; of an Opaque or Unsupported
the advice; of a Function its index among the callees (-1 is the function itself); of a Closure its
index among the functions inside.
"""

from __future__ import annotations

import ast

from .._engine import CompileError
from . import kernel_words
from .captured import Captured
from .circles import Circles
from .containers import Containers
from .desugar import Desugar
from .exceptions import Exceptions
from .expressions import Expressions, name_at
from .forms import Forms
from .function_choices import FunctionChoices
from .generators import Generator, Generators, is_generator
from .imports import Imports
from .iterators import Iterators
from .keywords import Keywords
from .known_keys import with_known_keys
from .match import Match
from .memo import Memo
from .named_iterators import NamedIterators
from .named_ranges import NamedRanges
from .nonlocals import Nonlocals
from .numba_forms import NumbaForms
from .numpy_forms import NumpyForms
from .python_block import PythonBlock
from .recursive_generators import RecursiveGenerators
from .resumed_generators import ResumedGenerators
from .sequences import Sequences
from .sharing import Sharing
from .signatures import spec_of
from .source import read_function
from .statements import Statements
from .tables import Tables
from .unpacking import Unpacking
from .walks import own_nodes

_ADVICE = {
    "TryStar": ("except*", "write except"),
    "With": ("with", "enter it outside of the compiled function"),
    "ClassDef": ("a class", "define it outside"),
    "Import": ("this import", "import it outside of the compiled function"),
    "ImportFrom": ("this import", "import it outside of the compiled function"),
    "GeneratorExp": ("a generator", "write a loop"),
    "Yield": ("yield", "fill an array and return"),
    "YieldFrom": ("yield", "fill an array and return"),
    "Await": ("await", "call it outside"),
    "Global": ("global", "return the value and assign it outside"),
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
        around), captures (how many), arrays (names of captured arrays, which end the params, with
        mapping or cell and name there), is_kernel, callees, guards (``(mapping or cell, name, value)``
        for each captured value) and options.
    """
    definition, file, first_line, lines = read_function(function)
    options = options or {}
    flattener = _Flattener(function, definition, file, first_line, lines, is_kernel, options)
    return flattener.run()


class _Flattener(
    Captured,
    Circles,
    Containers,
    Desugar,
    Exceptions,
    Expressions,
    Forms,
    FunctionChoices,
    Generators,
    Imports,
    Iterators,
    Keywords,
    Match,
    Memo,
    NamedIterators,
    NamedRanges,
    Nonlocals,
    NumbaForms,
    NumpyForms,
    PythonBlock,
    RecursiveGenerators,
    ResumedGenerators,
    Sequences,
    Sharing,
    Statements,
    Tables,
    Unpacking,
):
    def __init__(self, function, definition, file, first_line, lines, is_kernel, options):
        self.function, self.definition, self.name = function, definition, function.__name__
        self.file, self.first_line, self.lines = file, first_line, lines
        self.text = "\n".join(lines)  # tells in no time that a walk of the tree finds nothing
        self.is_kernel, self.options, self.is_own = is_kernel, options, None
        self.callees, self.guards, self.nested, self.classes = [], [], [], []
        self.local_types = dict(options.get("locals", {}))
        self.captured_names, self.functions = [], {}
        self.outside = {}  # what names lead to that are not the function's own
        # Members of modules, which each rewriting of a call asks for: (module, member) by the
        # module's id and the name.
        self.members = {}
        self.arrays = {}  # captured ones: mapping or cell, and key there, by the name of a parameter
        self.takes_arrays = (not is_kernel or options.get("captures")) and not options.get(
            "is_method"
        )
        self.around = None
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        cells = function.__closure__ or ()
        self.cells = dict(zip(code.co_freevars, cells, strict=True))
        self.read_imports(_body_of(definition))
        self.find_writers(definition)

    def run(self):
        args = self.definition.args
        body = self.definition.body
        if "ations" in self.text:  # permutations and combinations: the tree is not copied yet
            self.gives_items(self.definition)
        if isinstance(self.definition, ast.Lambda):
            body = [ast.copy_location(ast.Return(value=body), body)]
        elif self.options.get("chooses"):
            from .overload import called_choice

            body = called_choice(self.definition, self.function)
            self.locals |= {name for s in body for name in _assigned(s)}
        may_yield = "yield" in self.text
        if may_yield:
            self.find_generators(body)
        if (
            may_yield
            and isinstance(self.definition, ast.FunctionDef)
            and is_generator(self.definition)
        ):
            raise CompileError(
                f"{self.name}: a generator is compiled where a compiled function loops over it; got "
                f"a call of it in another place, or one with functions inside, with a yield under "
                f"`except` or whose value is used, in "
                f"{self.file}:{self.definition.lineno}; write `for x in {self.name}(...)`, or fill "
                f"an array and return"
            )
        by_position = [*args.posonlyargs, *args.args]
        named = [*by_position, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
        if args.kwarg:
            named += self.named_parameters(args)
            body = self.with_named_keywords(body, args)
        defaults = self.defaults(args, [a.arg for a in by_position])
        if self.is_kernel:
            body = kernel_words.with_shared_block(self, body)
        else:
            body = self.with_choices(body)
        if self.around is None and not self.is_kernel:
            body = self.with_remembered(body)
            if self.text.count("range(") > self.text.count(" in range("):
                body = self.with_ranges(body, {a.arg for a in named})
            body = self.with_iterators(self.with_containers(with_known_keys(self, body)))
        if self.text.count("def ") > 2:
            self.find_circles(own_nodes(body))
        flat = self.block(self.with_result(body))
        arrays = self.arrays if self.around is None else {}
        behind = [*self.captured_names, *arrays]
        # Signatures say more than annotations, which programs with both write for type checkers.
        is_annotated = not self.options.get("signatures")
        return {
            "name": self.name,
            "file": self.file,
            "first_line": self.first_line,
            "lines": self.lines,
            "params": [a.arg for a in named] + behind,
            "positional": len(by_position),
            "vararg": len(by_position) if args.vararg else -1,
            "defaults": [defaults.get(a.arg) for a in named] + [None] * len(behind),
            # What *args is declared as each of its items is, which says nothing of the tuple.
            "declared": [
                self.annotation(a.annotation) if is_annotated and a is not args.vararg else None
                for a in named
            ]
            + [None] * len(behind),
            "result": self.annotation(getattr(self.definition, "returns", None))
            if is_annotated
            else None,
            "locals": self.local_types,
            "signatures": self.options.get("signatures", ()),
            "body": flat,
            "nested": self.nested,
            "captures": len(behind),
            "arrays": list(arrays.items()),
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
        if hasattr(e, "given"):  # by the function, whose text is lost (source.py)
            return self.known_annotation(e.given)
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
            if len(text) == 1:  # a type variable that only type checkers know, not NumPy's code
                return False, None
            value = text
        return self.known_annotation(value)

    def known_annotation(self, value):
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
        number = self.number_inside(definition) if kept_in else None
        if number is None:
            inner = self.function_inside(definition, name, kept_in)
            number, names = len(self.nested), inner.captured_names
            self.nested.append(inner.run())
            if kept_in:
                self.functions[kept_in] = names
        else:
            names = self.functions[kept_in]
        children = self.captured_values(names, at)
        kind = "KeptClosure" if kept_in else "Closure"
        return self.node(at, kind, children, name, number)

    def function_inside(self, definition, name, kept_in):
        return _Nested(self, definition, name, kept_in)

    def is_own_decorator(self, e):
        """Whether it is jit, which a function inside needs not."""
        from . import jit

        found, value = self.resolve(e.func if isinstance(e, ast.Call) else e)
        return found and value is jit

    def statement_FunctionDef(self, s):
        if not all(self.is_own_decorator(d) for d in s.decorator_list):
            return self.unsupported(
                s.decorator_list[0], "a decorator inside", "leave it out, or define it outside"
            )
        if s.name in self.generators:
            self.generators = {**self.generators, s.name: Generator(None, s, self)}
            return self.node(s, "Pass")
        node = self.closure(s, s, s.name, s.name)
        target = name_at(s.name, s)
        target.ctx = ast.Store()
        return self.node(s, "Assign", [self.expression_Name(target), node])

    def expression_Lambda(self, e):
        return self.closure(e, e, "<lambda>")

    # ---- nodes
    def node(self, at, kind, children=(), text="", value=None):
        try:
            line, column, end_line, end_column = (
                at.lineno,
                at.col_offset,
                at.end_lineno,
                at.end_col_offset,
            )
        except AttributeError:  # a tree that was made, not read
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
        if isinstance(s, (ast.Assign, ast.AugAssign)):
            plain = self.stored_flat(s)
            if plain is not None:
                return [self.statement(p) for p in plain]
        plain = self.unzipped(s) if isinstance(s, ast.Assign) else None
        if plain is not None:
            return [n for p in plain for n in self.statements(p)]
        if isinstance(s, ast.Assign) and self.builtin(s.value) == "reversed":
            s = self.with_listed(s)
        if isinstance(s, ast.Assign) and self.keeps_lock(s):
            return [self.node(s, "Pass")]
        if isinstance(s, ast.With):
            s = self.with_lock(s)
        if isinstance(s, ast.Assign) and not self.is_kernel:
            more = self.unpacking(s)
            if more:
                return [self.statement(s), *(n for m in more for n in self.statements(m))]
        if isinstance(s, ast.FunctionDef) and len(s.decorator_list) == 1:
            plain = self.remembered(s) if self.is_cache(s.decorator_list[0]) else None
            if plain is not None:
                return [self.statement(p) for p in plain]
        if isinstance(s, ast.For):
            s = self.zipped_with_endless(s)
            s = s if isinstance(s, list) else self.numbered_generator(s)
            if isinstance(s, list):
                return [n for p in s for n in self.statements(p)]
            nodes = self.reduced_loop(s)
            if nodes is not None:
                return nodes
            plain = self.loop_over_generator(s)
            if plain is not None:
                return [n for p in plain for n in self.statements(p)]
            plain = self.loop_over_columns(s) or self.plain_loop(s)
            if plain is not None:
                return [n for p in plain for n in self.statements(p)]
        if isinstance(s, ast.With):
            from . import lock, task, tasks

            plain = self.in_chunks(s)
            if plain is not None:
                return [n for p in plain for n in self.statements(p)]
            if self.is_with(s, lock):
                return self.locked(s)
            if self.is_with(s, tasks):
                return self.task_group(s)
            if self.is_with(s, task):
                return [
                    self.unsupported(
                        s, "a task outside of tasks()", "put with un.tasks(): around it"
                    )
                ]
        if self.divides_as_c(s):
            return self.divided_as_c(s)
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


class _Nested(_Flattener):
    """A function inside of another: names of the one around are parameters behind its own."""

    def __init__(self, around, definition, name, kept_in):
        self.around, self.definition, self.name = around, definition, name
        self.kept_in = kept_in
        self.function, self.cells = around.function, around.cells
        self.file, self.first_line, self.lines = around.file, around.first_line, around.lines
        self.text, self.is_own = around.text, around.is_own
        self.is_kernel, self.options = False, {**around.options, "signatures": ()}
        self.callees, self.guards, self.nested = around.callees, around.guards, []
        self.classes = around.classes
        self.local_types, self.captured_names, self.functions = {}, [], {}
        self.takes_arrays, self.members = around.takes_arrays, around.members
        args = definition.args
        self.locals = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        self.locals |= {a.arg for a in (args.vararg, args.kwarg) if a}
        body = _body_of(definition)
        self.locals |= {name for s in body for name in _assigned(s)}
        self.written = around.names_written_by(name) if kept_in else ()
        self.captured_names += self.written
        self.locals |= set(self.written)
        self.read_imports(body)
        self.find_writers(definition)

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
        if name in self.imported:
            return True, self.imported[name]
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
        beside = self.function_beside(e)
        if beside is not None:
            return beside
        if e.id not in self.locals and not self.is_itself(e.id) and self.is_local_around(e.id):
            self.captured_names.append(e.id)
            self.locals.add(e.id)
        return super().expression_Name(e)


def _body_of(definition):
    return definition.body if isinstance(definition.body, list) else [definition.body]


def _assigned(s):
    """Names that a statement binds in its function."""
    for n in own_nodes([s]):
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            yield n.id
        elif isinstance(n, (ast.MatchAs, ast.ExceptHandler)) and n.name:
            yield n.name
        elif isinstance(n, ast.FunctionDef):
            yield n.name
