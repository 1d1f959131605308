"""Functions of CUDA C and OpenCL C text that compiled functions and kernels call (``link=``), on every device."""

from __future__ import annotations

import linecache
import os
import re

from .._engine import CompileError
from .syntax.lexer import Source, tokens
from .syntax.parser import Parser
from .translation.functions import Translation

_words = re.compile(
    r'\b__device__\b|\b__global__\b|\b__forceinline__\b|\bextern\s*"C"|\b__kernel\b|\b(?:__)?(?:private|local|global)\s+\w+\s*\*'
)
ENDINGS = (".cu", ".cuh", ".cl", ".clh")


def is_of_devices(source):
    """Whether a text, or the file of that name, is CUDA C or OpenCL C: by its ending or its words, and else it is C."""
    if os.fspath(source).endswith(ENDINGS):
        return True
    return "(" in source and _words.search(source) is not None


class LinkedText:
    """The functions of one text, made when they are asked for."""

    def __init__(self, source):
        self._name, code = "<linked text>", source
        if source.endswith(ENDINGS):
            self._name = source
            with open(source) as file:
                code = file.read()
        self._source = Source(code, self._name)
        self._parser = Parser(tokens(code, self._source), self._source)
        self._parser.parse()
        linecache.cache[self._name] = (len(code), None, [line + "\n" for line in self._source.lines], self._name)  # fmt: skip
        self._translation = Translation(self._parser, self._source)
        self._made = {}

    def function(self, name):
        """The LinkedFunction of that name; None if the text defines none."""
        found = self._parser.unit.functions.get(name)
        if found is None or found.body is None:
            return None
        if name not in self._made:
            self._made[name] = LinkedFunction(self._translation, found)
        return self._made[name]


class LinkedFunction:
    """A function of a text. `compiled` takes a pointer as an array and an offset in elements."""

    def __init__(self, translation, function):
        if function.is_kernel:
            raise translation.source.error(
                function.place, f"'{function.name}' is a kernel, and functions are linked",
                "mark it with __device__, or launch it by un.RawKernel",
            )  # fmt: skip
        self.compiled, hidden = translation.device_function(function, function.name, function.place)
        if hidden:
            what = ", ".join(sorted(str(k[1]) if len(k) > 1 else "warp functions" for k in hidden))
            raise CompileError(
                f"declare_device: '{function.name}' uses {what}, which only kernels of the same text have; expected a "
                f"function of its arguments alone; pass them as arguments"
            )
        types = function.result, *[p for p, _, _ in function.parameters]
        if any(c.is_reference or (c.record and c.is_pointer) for c in types):
            raise CompileError(
                f"declare_device: '{function.name}' takes or gives references or pointers to structs; expected numbers, "
                f"pointers to them, and structs by value; pass structs or their members"
            )
        self.result = function.result
        self.parameters = [made for made, _, _ in function.parameters]
        self.declaration = (
            f"{function.result.base} {function.name}({', '.join(map(str, self.parameters))})"
        )
