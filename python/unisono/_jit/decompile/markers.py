"""What lies on the stack beside expressions."""

from __future__ import annotations

import ast


class Loop:
    """The iterator of a ``for`` on the stack."""

    def __init__(self, iterable):
        self.iterable, self.target, self.header = iterable, None, None
        self.made = None  # the comprehension that it makes


class Saved:
    """The value that a name had before a comprehension whose loop is the function's own."""


class Item:
    """What the loop takes from its iterator."""

    def __init__(self, loop):
        self.loop = loop


class Part:
    """An item of a value that is unpacked."""

    def __init__(self, unpacked, index):
        self.unpacked, self.index = unpacked, index


class Unpacked:
    def __init__(self, value, count, starred=None):
        self.value, self.targets, self.starred = value, [None] * count, starred


class Function:
    """A function made inside; the evaluation of its own code follows."""

    def __init__(self, code, defaults, keyword_defaults, annotations):
        self.code, self.defaults, self.keyword_defaults = code, defaults, keyword_defaults
        self.annotations, self.decorators = annotations, []


class Raised:
    """What a handler finds on the stack: the exception, or (`is_new` False) the one that was handled before."""

    def __init__(self, is_new):
        self.is_new = is_new


class Caught(ast.expr):
    """Whether the exception is one of a type."""

    def __init__(self, kind):
        self.kind = kind


class Entered:
    """The end of a ``with``, to be called."""

    def __init__(self, manager):
        self.manager, self.target = manager, None


class Imported:
    """A module, or (`level` None) a name of one."""

    def __init__(self, name, level, of):
        self.name, self.level, self.of, self.names = name, level, of, []
