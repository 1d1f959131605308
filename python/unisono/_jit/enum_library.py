"""Members of an Enum by value and by name, and their names: functions written for each class."""

from __future__ import annotations

import functools

from .text import compile_text


@functools.cache
def name_of(cls):
    """The property ``name`` as a compiled function of a member, or None."""
    pairs = [(m.value, m.name) for m in cls]
    return _chain(cls, "name", "self", "self.value", pairs, "''", "") if _is_plain(cls) else None


@functools.cache
def member_of(cls):
    """``cls(value)`` as a compiled function, or None."""
    pairs = [(m.value, f"E.{m.name}") for m in cls]
    error = f'raise ValueError(f"{{value!r}} is not a valid {cls.__qualname__}")'
    return _chain(cls, "member", "value", "value", pairs, "", error) if _is_plain(cls) else None


@functools.cache
def member_named(cls):
    """``cls[name]`` as a compiled function."""
    pairs = [(n, f"E.{m.name}") for n, m in cls.__members__.items()]
    return _chain(cls, "member", "name", "name", pairs, "", "raise KeyError(name)")


def _is_plain(cls):
    kinds = {type(m.value) for m in cls}
    return len(kinds) == 1 and kinds <= {int, str, bool, float}


def _chain(cls, name, parameter, key, pairs, last, error):
    lines = [f"def {name}({parameter}):"]
    for value, result in pairs:
        shown = result if result.startswith("E.") else repr(result)
        lines += [f"    if {key} == {value!r}:", f"        return {shown}"]
    lines.append(f"    {error or 'return ' + last}")
    return compile_text("\n".join(lines) + "\n", name, {"E": cls})
