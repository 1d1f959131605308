"""What a parsed C text is made of: types, functions, templates and all that a text defines."""

from __future__ import annotations

from typing import NamedTuple

from .lexer import Place


class CType(NamedTuple):
    """A type of C: the dtype of its elements, whether it is a pointer, and extents of an array."""

    base: str
    is_pointer: bool = False
    is_const: bool = False
    extents: tuple = ()
    space: str = ""
    is_reference: bool = False
    record: object = None  # of a struct or vector type
    default: object = None  # of a parameter: the expression of what it is where it is left out

    def __str__(self):
        return ("const " if self.is_const else "") + self.base + (" *" if self.is_pointer else "")


class Function(NamedTuple):
    """A function of the text; `body` is None of a declaration."""

    name: str
    place: Place
    result: CType
    parameters: list
    body: object
    is_kernel: bool
    line_end: int
    form: str = ""  # "method", "static", "constructor"; "place" and "itself": what a reference it returns is


class Template(NamedTuple):
    """A template: (name, kind, position of the default or None) of its parameters, and the position of its first token."""

    parameters: list
    at: int

    def open_values(self):
        """Values for an instance whose parameters are not known yet: types "?0", "?1"..., and 1 for each number."""
        kinds = [kind for _, kind, _ in self.parameters]
        return [CType(f"?{k}") if t in ("typename", "class") else 1 for k, t in enumerate(kinds)]


class Reference(NamedTuple):
    """``texture<type, axes, mode> name;``: what the host binds to, and what reading it gives."""

    element: CType
    axes: int
    value: CType


class Unit:
    """What a text defines."""

    def __init__(self):
        self.functions, self.templates, self.variables, self.types = {}, {}, {}, {}
        self.constants = {}
        self.structs = {}  # by their tags
        self.textures = {}  # References by name; `variables` has them, too
        self.class_templates = {}
        self.method_names, self.statics = set(), set()
        self.mutating = (
            set()
        )  # names of member functions and operators that change what they belong to
        self.overloads = {}  # functions of one name and other parameters, where there are some
