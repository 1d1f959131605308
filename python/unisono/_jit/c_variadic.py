"""Functions of C text that take any number of arguments: one C function around each list of types they are called with."""

from __future__ import annotations

import numbers
import re

from .. import _engine
from .c_types import _c_numbers

prefix = "unisono_address_"


def getter(name):
    """C text that tells the function's address."""
    return f"unsigned long long {prefix}{name}(void) {{ return (unsigned long long) {name}; }}\n"


class CVariadic:
    """A function of C text that takes any number of arguments, for Python.

    Behind those that are declared, integers pass as ``long``, floats as ``double``, text as ``const char*``, arrays
    and None as pointers. It has the attributes of `CFunctionOfText`.
    """

    def __init__(self, name, declaration, parameters, types, address, needs):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = self.declaration = declaration
        self.parameters = tuple(parameters)
        self._types, self._address, self._needs = types, address, needs
        self._made = {}  # by the kinds of the arguments behind those that are declared

    def __call__(self, *args):
        """Call it; the arguments must be what the function reads."""
        n = len(self.parameters)
        if len(args) < n:
            raise TypeError(
                f"{self.__name__}: takes at least {n} arguments; got {len(args)}; the declaration is "
                f"{self.declaration}; give one for each"
            )
        kinds = tuple(self._kind(x) for x in args[n:])
        if kinds not in self._made:
            self._made[kinds] = self._around(kinds)
        return self._made[kinds](self._address(), *args)

    def _kind(self, x):
        if isinstance(x, (str, bytes)):
            return "const char *"
        if isinstance(x, numbers.Integral) or type(x).__name__ in ("bool", "bool_"):
            return "long"
        if isinstance(x, numbers.Real):
            return "double"
        if x is None or hasattr(x, "__array__"):
            return "const void *"
        raise TypeError(
            f"{self.__name__}: C takes numbers, text and arrays in place of '...'; got {type(x).__name__}; pass one "
            f"of these, or an address"
        )

    def _around(self, kinds):
        from .c_module import compiled

        result, fixed = self._types
        gives, takes = _known(result), [_known(t) for t in fixed]
        if None in (gives, *takes):
            raise TypeError(
                f"{self.__name__}: of functions that take any number of arguments the declared ones are numbers and "
                f"pointers; got {self.declaration}; write a C function around it"
            )
        names = [f"p{k}" for k in range(len(takes) + len(kinds))]
        heads = ", ".join(f"{t} {p}" for t, p in zip([*takes, *kinds], names, strict=True))
        text = (
            f"{gives} {self.__name__}(unsigned long long f, {heads}) "
            f"{{ return (({gives} (*)({', '.join(takes)}, ...)) f)({', '.join(names)}); }}"
        )
        return getattr(compiled(text, None), self.__name__)

    @property
    def _in_compiled_code(self):
        raise _engine.CompileError(
            f"'{self.__name__}' takes any number of arguments, which compiled functions cannot pass; got "
            f"{self.declaration}; write a C function around it that takes those you need"
        )

    def __repr__(self):
        return f"<C function {self.declaration}>"


def _known(type_):
    """A type that another text knows, or None."""
    spelling, form = type_[:2]
    plain = re.sub(r"\b(const|restrict|volatile)\b", "", spelling)
    base = re.sub(r"\s+", " ", plain).strip("* ")
    if form == "void" or base in _c_numbers:
        return spelling
    return "void *" if form in ("pointer", "record*") else None
