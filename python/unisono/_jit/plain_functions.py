"""Python functions without a decorator: those of the program are compiled with what calls them."""

from __future__ import annotations

import linecache
import sys
import types

_compiled = {}  # by identity: the function, which stays, and what is compiled of it


def compiled_function(value):
    """The compiled function of a plain one of the program, or None."""
    if type(value) is not types.FunctionType or why_not(value):
        return None
    found = _compiled.get(id(value))
    if found is None:
        from . import always_jit

        found = _compiled[id(value)] = (value, always_jit(value))
    return found[1]


def why_not(function):
    """What keeps compiled code from compiling it, or nothing.

    Libraries are written for the interpreter: what they call would be refused far from the program.
    """
    root = (function.__module__ or "").partition(".")[0]
    file = function.__code__.co_filename
    is_library = root in ("numpy", "unisono") or root in sys.stdlib_module_names
    if is_library or "site-packages" in file or "dist-packages" in file:
        return "a Python function of a library"
    return "" if linecache.getlines(file) else "a Python function whose source cannot be found"
