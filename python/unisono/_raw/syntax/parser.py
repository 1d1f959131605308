"""The tree of a C text: its functions with their statements and expressions.

An expression is ``(kind, place, ...)``, as is a statement; a type is a `CType`. `definitions`, `types`, `tags`, `statements`
and `expressions` are functions that take the `Parser`, which has the tokens and what was found. Templates are kept as
tokens' positions and parsed again for each instance, with their parameters bound.
"""

from __future__ import annotations

from . import definitions, traits
from .lexer import Place, Token
from .nodes import CType, Unit
from .types import OF_GROUPS, OF_OPENCL


class Parser:
    """A parser of one text; `unit` has what it found."""

    def __init__(self, tokens, source):
        end = Token("end", "the end of the text", len(source.lines), 0)
        self.tokens, self.source, self.at = [*tokens, end], source, 0
        self.unit, self.bound = Unit(), {}
        self.volatile, self.met = (
            set(),
            -1,
        )  # names; behind which token a warp met last (in_step.py)
        self.unit.types["cudaTextureObject_t"] = CType("float32", is_pointer=True, is_const=True)
        self.packed = False  # whether the attributes just read say so
        self.least_align = 1
        is_cuda = any(t.text in ("__global__", "__shared__", "__device__") for t in tokens)
        self.is_cuda = is_cuda
        self.plain_names = OF_OPENCL if is_cuda else frozenset()
        if is_cuda and not any("cuda_fp16" in line for line in source.lines):
            self.plain_names |= {"half"}
        if not any("cooperative_groups" in line for line in source.lines):
            self.plain_names |= OF_GROUPS
        self.has_tiles = any(t.text == "tiled_partition" for t in tokens)

    @property
    def token(self):
        return self.tokens[self.at]

    @property
    def place(self):
        return Place(self.token.line, self.token.column)

    def peek(self, k=1):
        return self.tokens[min(self.at + k, len(self.tokens) - 1)].text

    def take(self, *texts):
        if self.token.kind != "text" and self.token.text in texts:
            self.at += 1
            return self.tokens[self.at - 1].text
        return None

    def expect(self, text):
        if not self.take(text):
            raise self.error(f"expected '{text}'; got '{self.token.text}'", f"write '{text}' here")

    def expect_name(self, text):
        """Takes this name."""
        if self.token.text != text:
            raise self.error(f"expected '{text}'; got '{self.token.text}'", f"write {text} here")
        self.at += 1

    def error(self, what, advice, place=None):
        return self.source.error(place or self.place, what, advice)

    def name(self):
        if self.token.kind != "name":
            raise self.error(f"expected a name; got '{self.token.text}'", "write a name here")
        self.at += 1
        return self.tokens[self.at - 1].text

    def parse(self):
        """The Unit."""
        depth = 0
        while self.token.kind != "end":
            if self.token.text == "extern" and self.peek().startswith('"'):
                self.at += 2
                if self.take("{"):
                    depth += 1
            elif depth and self.take("}"):
                depth -= 1
            elif self.take(";"):
                pass
            elif self.token.text == "template":
                definitions.template(self)
            elif self.token.text == "texture" and self.peek() == "<":
                definitions.texture(self)
            elif self.token.text == "typedef":
                definitions.typedef(self)
            elif self.token.text == "using" and self.peek(2) == "=":
                definitions.using(self)
            elif self.token.text == "using" or (
                self.token.text == "namespace" and self.peek(2) == "="
            ):
                self.skip_to(";")
            elif self.token.text == "namespace" and self.peek(2) == "=":
                self.skip_to(";")
            elif self.token.text == "namespace":
                while not self.take("{"):
                    self.at += 1
                depth += 1
            else:
                definitions.definition(self)
        if depth:
            raise self.error('a block of extern "C" does not end', "add }")
        return self.unit

    def skip_to(self, text):
        while self.token.kind != "end" and self.token.text != text:
            self.at += 1
        self.at += 1

    def parentheses(self):
        self.expect("(")
        depth = 1
        while depth and self.token.kind != "end":
            depth += {"(": 1, ")": -1}.get(self.token.text, 0)
            self.at += 1
        self.expect(")") if depth else None

    def instance(self, name, values):
        """The Function of a template whose parameters have these values: CTypes and numbers."""
        made = self.unit.templates[name]
        before, bound = self.at, self.bound
        self.at = made.at
        self.bound = {p: v for (p, _, _), v in zip(made.parameters, values, strict=False)}
        traits.defaults(self, made.parameters, len(values))
        found = definitions.definition(self, keep=False)
        self.at, self.bound = before, bound
        return found
