"""Finds a function's source and makes sure that it is the source of the code that would run."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types

from .._engine import CompileError


def read_function(function):
    """Parse the source of a function.

    Returns
    -------
    definition : ast.FunctionDef
        With the line numbers and columns of the file.
    file : str
    first_line : int
    lines : list of str
        The function's lines as they stand in the file.
    """
    name = function.__name__
    if name == "<lambda>":
        raise CompileError(
            "jit: a lambda cannot be compiled; its source cannot be told apart; use def"
        )
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise CompileError(
            f"{name}: its source cannot be found; got a function from {file}; "
            f"define it in a file or in a notebook cell"
        ) from None
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        module = ast.parse(text)
    except SyntaxError:
        raise _stale(name, file, first_line) from None
    definition = module.body[0] if module.body else None
    if not isinstance(definition, ast.FunctionDef) or definition.name != name:
        raise _stale(name, file, first_line)
    if not _is_same_code(function, definition, file):
        raise _stale(name, file, first_line)
    for node in ast.walk(definition):
        if hasattr(node, "lineno"):
            node.lineno += first_line - 1
            node.end_lineno += first_line - 1
            node.col_offset += indent
            node.end_col_offset += indent
    return definition, file, first_line, [line.rstrip("\n") for line in lines]


def _stale(name, file, line):
    return CompileError(
        f"{name}: the file has changed since the function was defined; got other code at "
        f"{file}:{line} than the function runs; reload the module"
    )


def _is_same_code(function, definition, file):
    """Compile the source again and compare with the code object."""
    code = function.__code__
    if "@pytest_ar" in code.co_names:
        return True  # pytest rewrites asserts: the code is meant to differ from the source
    bare = ast.FunctionDef(
        **{field: getattr(definition, field, None) for field in definition._fields}
    )
    bare.decorator_list, bare.returns = [], None
    ast.copy_location(bare, definition)
    body = [bare]
    if code.co_freevars:
        # Names of the enclosing function compile to other instructions than globals.
        values = ast.parse("; ".join(f"{name} = None" for name in code.co_freevars)).body
        outer = ast.parse("def outer(): pass").body[0]
        outer.body = [*values, bare]
        body = [outer]
    # Calls through names that the module imports compile to other instructions too.
    scope = function.__globals__
    imported = [n for n in code.co_names if isinstance(scope.get(n), types.ModuleType)]
    imports = [ast.Import(names=[ast.alias(name=n)]) for n in imported]
    return (
        _holds(ast.Module(body=[*imports, *body], type_ignores=[]), code)
        or _holds(ast.Module(body=body, type_ignores=[]), code)
        or _holds("".join(linecache.getlines(file, scope)), code)
    )


def _holds(source, code):
    """Whether a module compiles to this code object among others."""
    if isinstance(source, ast.Module):
        ast.fix_missing_locations(source)
    flags = code.co_flags & 0x1FE0000  # what `from __future__ import` left
    try:
        compiled = compile(source, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return any(
        _is_equal(code, other) for other in _codes(compiled) if other.co_name == code.co_name
    )


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_equal(a, b):
    def plain(code):
        return [(type(c), c) for c in code.co_consts if not isinstance(c, types.CodeType)]

    return (
        a.co_code == b.co_code
        and repr(plain(a)) == repr(plain(b))
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
    )
