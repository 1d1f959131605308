"""Compiled functions of generated source."""

from __future__ import annotations

import itertools
import weakref

from . import always_jit, unfiled

_counter = itertools.count()


def compile_text(text, name, scope):
    """Make a compiled function of generated source, which tracebacks and the front end can read.

    Parameters
    ----------
    text : str
        A module that defines `name`.
    name : str
    scope : dict
        What the text's global names stand for.

    Returns
    -------
    JitFunction
    """
    function = function_of_text(text, name, scope)
    made = always_jit(function)
    weakref.finalize(made, unfiled.forget, function.__code__.co_filename)
    return made


def function_of_text(text, name, scope=()):
    """Make a plain function of generated source, in the way of `compile_text`."""
    file = f"<unisono {name} {next(_counter)}>"
    unfiled.keep(file, text)
    values = dict(scope)
    exec(compile(text, file, "exec"), values)
    return values[name]
