"""Finds a function's source and makes sure that it is the source of the code that would run."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types

from .._engine import CompileError
from . import rewritten, unfiled


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
    name = function.__code__.co_name  # the text's; the function may have been given another
    file = function.__code__.co_filename
    if not file.endswith(".py"):  # else it is what inspect finds too, after a look at the disk
        file = inspect.getsourcefile(function) or file
    if function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise CompileError(
            f"{name}: an async function is not compiled; got one at {file}:"
            f"{function.__code__.co_firstlineno}; compile the function that computes, and call it there"
        )
    if name == "<lambda>":
        return _read_lambda(function, file)
    for lines, first_line, everything in _candidates(function, file):
        definition = _parse(lines, first_line)
        if definition is None or definition.name != name:
            continue
        shift = _shift_of_code(function, file, lines, first_line, everything)
        if shift is None:
            continue
        if shift:  # a text that begins elsewhere than the code was compiled from
            first_line += shift
            definition = _parse(lines, first_line)
        _name_privates(definition, function)
        return definition, file, first_line, [line.rstrip("\n") for line in lines]
    if not linecache.getlines(file, function.__globals__) or unfiled.is_unfiled(file):
        for lines, definition in _read_code(function):
            return definition, file, function.__code__.co_firstlineno, lines
        raise CompileError(
            f"{name}: its source cannot be found; got a function from {file}; {unfiled.advice(file)}"
        )
    raise CompileError(
        f"{name}: the file has changed since the function was defined; got other code at "
        f"{file}:{function.__code__.co_firstlineno} than the function runs; reload the module"
    )


def _name_privates(definition, function):
    """Give names such as ``__x`` in a class the names that Python gives them, ``_Class__x``."""
    parts = function.__qualname__.split(".")
    while len(parts) > 2 and parts[-2] == "<locals>":
        parts = parts[:-2]
    owner = parts[-2].lstrip("_") if len(parts) > 1 and parts[-2] != "<locals>" else ""
    for node in ast.walk(definition) if owner else ():
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            is_private = isinstance(name, str) and name.startswith("__")
            if is_private and not name.endswith("__"):
                setattr(node, field, f"_{owner}{name}")


def _read_lambda(function, file):
    """As read_function: the lambda of the file whose code this is and that stands where it says."""
    code = function.__code__
    linecache.checkcache(file)
    is_read = False
    for text in (
        "".join(linecache.getlines(file, function.__globals__)),
        *unfiled.texts_for(function),
    ):
        try:
            module = _tree(text)
        except SyntaxError:
            continue
        is_read = is_read or bool(text)
        node = _lambda_of(module, text, code)
        if node is not None:
            lines = text.splitlines(keepends=True)[node.lineno - 1 : node.end_lineno]
            return node, file, node.lineno, [line.rstrip("\n") for line in lines]
    if not is_read or unfiled.is_unfiled(file):
        for lines, node in _read_code(function):
            return node, file, code.co_firstlineno, lines
        raise CompileError(
            f"jit: the source of a lambda cannot be found; got one from {file}:"
            f"{code.co_firstlineno}; {unfiled.advice(file)}"
        )
    raise CompileError(
        f"<lambda>: the file has changed since the function was defined; got other code at "
        f"{file}:{code.co_firstlineno} than the function runs; reload the module"
    )


def is_readable(function):
    """Whether the code of a function whose text is lost can be read back."""
    return any(True for _ in _read_code(function))


def _read_code(function):
    """Yield the lines and the tree of a text that compiles to the function's code, made from that code."""
    from .decompile import texts_of

    code = function.__code__
    for text in texts_of(code):
        is_lambda = code.co_name == "<lambda>"
        if code.co_freevars and not is_lambda:
            text = textwrap.indent(text, "    ")
        lines = text.splitlines()
        if is_lambda:
            around = f"def outer():\n {' = '.join([*code.co_freevars, '0'])}\n return {text}\n"
            if _found_in(around, code) is not None:
                line = "\n" * (code.co_firstlineno - 1)
                yield lines, _tree(line + text).body[0].value
        else:
            definition = _parse([line + "\n" for line in lines], code.co_firstlineno)
            if (
                definition is not None
                and _shift_of_code(
                    function,
                    code.co_filename,
                    [line + "\n" for line in lines],
                    code.co_firstlineno,
                    "",
                )
                is not None
            ):
                _annotate(definition, function)
                yield lines, definition


def _annotate(definition, function):
    """Give parameters the annotations that the function has: its code has none."""
    types = dict(function.__annotations__)
    parameters = definition.args
    named = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    for node in (*named, parameters.vararg, parameters.kwarg):
        if node is not None and node.arg in types:
            node.annotation = _annotation(types[node.arg], definition)
    if "return" in types:
        definition.returns = _annotation(types["return"], definition)


def _annotation(value, definition):
    node = ast.Constant(value if isinstance(value, str) else repr(value))
    if not isinstance(value, str):
        node.given = value
    return ast.copy_location(node, definition)


def _tree(text):
    """As `ast.parse`; CPython before 3.11.5 counts the depths of all threads' trees together, and may find them wrong."""
    try:
        return ast.parse(text)
    except SystemError:
        return ast.parse(text)


def _lambda_of(module, text, code):
    """The lambda of a module whose code it is and that stands where the code says, or None."""
    places = [p for p in code.co_positions() if None not in p and p[3] > p[2]]
    for node in ast.walk(module):
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            continue
        if _covers(node, places):
            if _found_in(text, code) is None:
                return None
            # Inner lambdas lie inside of outer ones: the code's own places decide.
            inside = [n for n in ast.walk(node.body) if isinstance(n, ast.Lambda)]
            if not any(_covers(n, places) for n in inside):
                return node
    return None


def _covers(node, places):
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return all(begin <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places)


def _candidates(function, file):
    """Yield (lines, first line, text around) of what may be the function's source, the cheapest first."""
    code = function.__code__
    linecache.checkcache(file)
    everything = linecache.getlines(file, function.__globals__)
    if everything:
        yield _block(everything, code), code.co_firstlineno, "".join(everything)
    for text in unfiled.texts_for(function):
        for lines, first_line in unfiled.definitions(text, code.co_name):
            yield lines, first_line, text
    try:
        # Reads tokens: slow, but knows every form.
        yield *inspect.getsourcelines(function), "".join(everything)
    except (OSError, TypeError):
        return


def _block(lines, code):
    """The lines from the function's first one to where a line is indented no more than that."""
    begin = code.co_firstlineno - 1
    # Where statements begin: what a last one's text needs beyond its line is indented, or found
    # by the next candidate. The places of all instructions take ten times as long to read.
    last = _last_line(code)
    indent = _indent(lines[begin]) if begin < len(lines) else ""
    end = min(max(begin + 1, last), len(lines))  # the file may hold another text by now
    while end < len(lines):
        line = lines[end]
        is_inside = line.startswith(indent) and line[len(indent) : len(indent) + 1] in " \t)]}"
        if line.strip() and not is_inside:
            break
        end += 1
    while end > begin + 1 and not lines[end - 1].strip():
        end -= 1
    return lines[begin:end]


def _indent(line):
    return line[: len(line) - len(line.lstrip())]


def _parse(lines, first_line):
    """The definition, or None where the lines hold none."""
    # What stands before it gives it its place in the file.
    is_indented = bool(lines) and lines[0][:1] in (" ", "\t")
    before = "\n" * (first_line - 2) + "if 1:\n" if is_indented else "\n" * (first_line - 1)
    try:
        body = _tree(before + "".join(lines)).body
    except SyntaxError:
        return None
    definition = body[0].body[0] if is_indented and body else body[0] if body else None
    return definition if isinstance(definition, ast.FunctionDef) else None


def _shift_of_code(function, file, lines, first_line, everything):
    """How far the function's lines stand behind these in a text that compiles to its code; None where none does."""
    code = function.__code__
    indent = _indent(lines[0])
    before = "if 1:\n" if indent else ""
    if code.co_freevars and indent:
        # Names of the enclosing function compile to other instructions than globals.
        assigned = "".join(f"{indent}{name} = None\n" for name in code.co_freevars)
        before = f"def outer():\n{assigned}"
    # Calls through names that the module imports compile to other instructions too.
    scope = function.__globals__
    imported = [
        n for n in dict.fromkeys(names_of(code)) if isinstance(scope.get(n), types.ModuleType)
    ]
    imports = "".join(f"import {n}\n" for n in imported)
    heads = [imports + before, *([before] if imports else [])]
    tried = [(head + "".join(lines), head.count("\n") + 1 - first_line, None) for head in heads]
    own = range(first_line, first_line + len(lines))  # the text around has others of the name
    for source, more, where in (*tried, (everything, 0, own)):
        found = _found_in(source, code, where)
        if found is not None:
            is_moved = unfiled.is_unfiled(file)
            return _last_line(code) - _last_line(found) + more if is_moved else 0
    return 0 if rewritten.is_made_of(function, everything) else None


def _last_line(code):
    return max((line or 0 for inner in _codes(code) for _, _, line in inner.co_lines()), default=0)


def _found_in(source, code, where=None):
    """The code object among those that a module compiles to that is equal to this one and ends in these lines, or None."""
    flags = code.co_flags & 0x1FE0000  # what `from __future__ import` left
    try:
        compiled = compile(source, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    for c in _codes(compiled):
        if (
            c.co_name == code.co_name
            and (where is None or _last_line(c) in where)
            and _is_equal(code, c)
        ):
            return c
    return None


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def names_of(code):
    """The global names and attributes that a function and those inside of it read."""
    return [name for inner in _codes(code) for name in inner.co_names]


def _is_equal(a, b):
    def plain(code):
        return [(type(c), c) for c in code.co_consts if not isinstance(c, types.CodeType)]

    def inside(code):
        return [c for c in code.co_consts if isinstance(c, types.CodeType)]

    return (
        len(inside(a)) == len(inside(b))
        and all(map(_is_equal, inside(a), inside(b)))
        and a.co_code == b.co_code
        and a.co_exceptiontable == b.co_exceptiontable
        and repr(plain(a)) == repr(plain(b))
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
    )
