"""Python functions without a decorator: those of the program are compiled with what calls them."""

from __future__ import annotations

import functools
import linecache
import sys
import types
from collections import OrderedDict

from .. import _engine
from . import unfiled
from .source import is_readable

# By identity: the function, which stays, and what is compiled of it; the last ones used.
_compiled = OrderedDict()
_most_compiled = 1024
# The same of functions that are made again and again, which share an entry; see argument_form.
_given = OrderedDict()
_most_given = 256  # each holds what it captured last


def compiled_function(value):
    """The compiled function of a plain one of the program, or of a partial of one, or None."""
    if type(value) is functools.partial:
        return _compiled_partial(value)
    if type(value) is not types.FunctionType or why_not(value):
        return None
    found = _compiled.get(id(value))
    if found is None:
        from . import always_jit

        found = value, always_jit(value)
    _keep(_compiled, id(value), found, _most_compiled)
    return found[1]


def _keep(table, key, value, most):
    """Note it as the one used last, and let go of those unused longest."""
    table[key] = value
    table.move_to_end(key)
    while len(table) > most:
        table.popitem(last=False)


def argument_form(function):
    """What a call with this function as an argument is compiled for: a compiled function, a known name, or None.

    Functions of the same code share a compiled one, whose cells the engine fills before each call, so that
    ``apply(lambda x: k * x, a)`` is compiled once for all numbers k.
    """
    if type(function) is functools.partial:
        return _compiled_partial(function)
    if type(function) is not types.FunctionType:
        from .captured import known_name

        made = foreign_function(function)
        if made is None and hasattr(type(function), "_in_compiled_code"):  # cfunc, vectorize...
            made = function._in_compiled_code
        return made if isinstance(made, _engine.Dispatcher) else known_name(function)
    cells = function.__closure__ or ()
    try:
        around = [_kind_of(c.cell_contents, function) for c in cells]
    except ValueError:  # a name that has no value yet
        return compiled_function(function)
    named = tuple((function.__kwdefaults__ or {}).items())
    defaults = _fixed(function.__defaults__), _fixed(named)
    key = (id(function.__code__), id(function.__globals__), *defaults, *around)
    made = _given.get(key)
    if made is None and not why_not(function):
        takes_numbers = cells or function.__name__ == "<lambda>"
        made = _as_argument(function) if takes_numbers else compiled_function(function)
        _keep(_given, key, made, _most_given)
    elif made is not None:
        _given.move_to_end(key)
    return made


def _compiled_partial(partial):
    """The function that adds what ``functools.partial`` was given, one for each set of that."""
    function, given, named = partial.func, partial.args, partial.keywords
    key = ("partial", id(function), _fixed(given), _fixed(tuple(named.items())))
    if key not in _given:
        from . import always_jit

        def with_given(*rest):
            return function(*given, *rest)

        def with_names(*rest):
            return function(*given, *rest, **named)

        _keep(_given, key, always_jit(with_names if named else with_given), _most_given)
    return _given[key]


def foreign_function(value):
    """The compiled function that stands for an object of another decorator or library, or None."""
    from . import foreign
    from .overload import implementation_of

    found = implementation_of(value)
    return foreign.function_of(value) if found is None else found


def _as_argument(function):
    """Compiled with the numbers around it as parameters, and with cells of its own."""
    from . import always_jit

    cells = [types.CellType(c.cell_contents) for c in function.__closure__ or ()]
    own = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells) or None,
    )
    for name in ("__kwdefaults__", "__module__", "__qualname__", "__doc__"):
        setattr(own, name, getattr(function, name))
    for cell in cells:
        if cell.cell_contents is function:
            cell.cell_contents = own
    made = always_jit(own, takes_numbers=True)
    _keep(_compiled, id(own), (own, made), _most_compiled)
    return made


def _kind_of(value, function):
    """What code for a function that captured the value depends on."""
    from .captured import is_number, is_taken

    if value is function:
        return "itself"
    if is_number(value):
        return type(value), str(getattr(value, "dtype", ""))
    return type(value) if is_taken(value) else _fixed(value)


def _fixed(value):
    """Something equal for values that are the same constant."""
    if type(value) is tuple:
        return tuple(map(_fixed, value))
    plain = type(value) in (bool, int, float, complex, str, types.NoneType)
    return (type(value), repr(value)) if plain else id(value)


def why_not(function):
    """What keeps compiled code from compiling it, or nothing.

    Libraries are written for the interpreter: what they call would be refused far from the program.
    """
    root = (function.__module__ or "").partition(".")[0]
    file = function.__code__.co_filename
    is_library = root in ("numpy", "unisono") or root in sys.stdlib_module_names
    if is_library or "site-packages" in file or "dist-packages" in file:
        return "a Python function of a library"
    if linecache.getlines(file) or any(unfiled.texts_for(function)) or is_readable(function):
        return ""
    return "a Python function whose source cannot be found"
