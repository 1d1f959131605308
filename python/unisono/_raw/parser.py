"""The tree of a C text: its functions with their statements and expressions.

An expression is ``(kind, place, ...)``, as is a statement; a type is a `CType`. Templates are kept as tokens' positions and
parsed again for each instance, with their parameters bound.
"""

from __future__ import annotations

from typing import NamedTuple

from . import records
from .arithmetic import folded
from .lexer import Place, Token, number

_WORDS = {
    "bool": "bool", "char": "int8", "short": "int16", "int": "int32", "long": "int64", "float": "float32",
    "double": "float64", "unsigned": "uint32", "signed": "int32", "half": "float16", "void": "void",
    "__half": "float16", "size_t": "uint64", "ptrdiff_t": "int64", "ssize_t": "int64",
    "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "_Bool": "bool",
    "intptr_t": "int64", "uintptr_t": "uint64",
    "cuComplex": "complex64", "cuFloatComplex": "complex64", "cuDoubleComplex": "complex128",
    **{f"{u}int{b}_t": f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)},
}  # fmt: skip
_PLAIN = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void"}
_QUALIFIERS = {
    "const", "volatile", "restrict", "__restrict__", "__restrict", "static", "inline", "__inline__",
    "__forceinline__", "__noinline__", "extern", "register", "constexpr", "__private", "private",
}  # fmt: skip
SPACES = {
    "__shared__": "local", "__local": "local", "local": "local", "__global": "global", "global": "global",
    "__constant__": "constant", "__constant": "constant", "constant": "constant", "__device__": "device",
}  # fmt: skip
_KERNEL = {"__global__", "__kernel", "kernel"}
_OF_OPENCL = {"local", "global", "constant", "kernel", "private"}  # names like others in CUDA C
_LEVELS = [
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
]  # fmt: skip
_TAGGED = {"struct", "enum"}
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


class CType(NamedTuple):
    """A type of C: the dtype of its elements, whether it is a pointer, and extents of an array."""

    base: str
    is_pointer: bool = False
    is_const: bool = False
    extents: tuple = ()
    space: str = ""
    is_reference: bool = False
    record: object = None  # of a struct or vector type

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


class Template(NamedTuple):
    """A function template: its parameters, and the position of its first token."""

    parameters: list
    at: int


class Unit:
    """What a text defines."""

    def __init__(self):
        self.functions, self.templates, self.variables, self.types = {}, {}, {}, {}
        self.constants = {}
        self.structs = {}  # by their tags
        self.overloads = {}  # functions of one name and other parameters, where there are some


class Parser:
    """A parser of one text; `unit` has what it found."""

    def __init__(self, tokens, source):
        end = Token("end", "the end of the text", len(source.lines), 0)
        self.tokens, self.source, self.at = [*tokens, end], source, 0
        self.unit, self.bound = Unit(), {}
        self.packed = False  # whether the attributes just read say so
        self.least_align = 1
        is_cuda = any(t.text in ("__global__", "__shared__", "__device__") for t in tokens)
        self.is_cuda = is_cuda
        self.plain_names = _OF_OPENCL if is_cuda else frozenset()
        if is_cuda and not any("cuda_fp16" in line for line in source.lines):
            self.plain_names |= {"half"}

    # ---- tokens
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

    def error(self, what, advice, place=None):
        return self.source.error(place or self.place, what, advice)

    def name(self):
        if self.token.kind != "name":
            raise self.error(f"expected a name; got '{self.token.text}'", "write a name here")
        self.at += 1
        return self.tokens[self.at - 1].text

    # ---- the text
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
                self.template()
            elif self.token.text == "typedef":
                self.typedef()
            elif self.token.text == "using" and self.peek(2) != "=":
                self.skip_to(";")
            elif self.token.text == "namespace":
                while not self.take("{"):
                    self.at += 1
                depth += 1
            else:
                self.definition()
        if depth:
            raise self.error('a block of extern "C" does not end', "add }")
        return self.unit

    def skip_to(self, text):
        while self.token.kind != "end" and self.token.text != text:
            self.at += 1
        self.at += 1

    def template(self):
        self.at += 1
        self.expect("<")
        parameters = []
        while not self.take(">"):
            kind = self.take("typename", "class") or str(self.type()[0])
            parameters.append((self.name(), kind))
            self.take(",")
        first = self.at
        while self.token.text not in ("(", ";") and self.token.kind != "end":
            self.at += 1
        name = self.tokens[self.at - 1].text
        self.unit.templates[name] = Template(parameters, first)
        while self.token.text not in ("{", ";") and self.token.kind != "end":
            self.at += 1
        depth = 0
        while self.token.kind != "end":
            depth += {"{": 1, "}": -1}.get(self.token.text, 0)
            self.at += 1
            if depth == 0:
                break

    def instance(self, name, values):
        """The Function of a template whose parameters have these values: CTypes and numbers."""
        made = self.unit.templates[name]
        before, bound = self.at, self.bound
        self.at = made.at
        self.bound = {**dict(zip([p for p, _ in made.parameters], values, strict=False))}
        found = self.definition(keep=False)
        self.at, self.bound = before, bound
        return found

    def typedef(self):
        self.at += 1
        made, _ = self.type()
        while True:
            one = made._replace(is_pointer=bool(self.take("*")) or made.is_pointer)
            name = self.name()
            if one.record and one.base.startswith("struct ") and not one.is_pointer:
                one.record.name, one = name, one._replace(base=name)
            self.unit.types[name] = one
            self.attributes()
            if not self.take(","):
                break
        self.expect(";")

    def definition(self, keep=True):
        start = self.place
        made, words = self.type()
        is_kernel = bool(words & _KERNEL)
        if words & _TAGGED and self.take(";"):  # defines a struct, and nothing of it
            return None
        while self.take("*"):
            made = made._replace(is_pointer=True)
        place = self.place
        name = self.name()
        if name == "operator":
            while self.token.text != "(" or self.peek() == ")" and name == "operator":
                name += self.token.text
                self.at += 1
        if self.token.text != "(":
            return self.module_variable(made, words, name, place)
        self.at += 1
        parameters = []
        if self.token.text == "void" and self.peek() == ")":
            self.at += 1
        while not self.take(")"):
            parameters.append(self.parameter())
            if self.token.text != ")":
                self.expect(",")
        body = None if self.take(";") else self.block()
        end = self.tokens[self.at - 1].line
        if is_kernel and (made.base != "void" or made.is_pointer):
            raise self.error(
                f"the kernel '{name}' returns {made}", "make it void, and store results", start
            )
        if is_kernel and body is not None:
            parameters = [(_typed_by_cast(c, n, body), n, at) for c, n, at in parameters]
        function = Function(name, place, made, parameters, body, is_kernel, end)
        if keep and (body is not None or name not in self.unit.functions):
            self.overload(name, function)
            self.unit.functions[name] = function
        return function

    def overload(self, name, function):
        """Keep functions of one name apart by their parameters."""
        before = self.unit.functions.get(name)
        types = [c for c, _, _ in function.parameters]
        if before is None or (before.body is None and name not in self.unit.overloads):
            return
        known = self.unit.overloads.setdefault(name, [before])
        known[:] = [f for f in known if [c for c, _, _ in f.parameters] != types]
        known.append(function)

    def module_variable(self, made, words, name, place):
        extents = self.extents()
        value = self.initializer() if self.take("=") else None
        self.expect(";")
        if extents[:1] == (None,) and value is not None and value[0] == "list":
            extents = (("number", place, len(value[2]), "int32"), *extents[1:])
        is_known = made.is_const or "constexpr" in words
        if is_known and not extents and value is not None and value[0] != "list":
            self.unit.constants[name] = (made, value)
            return None
        if not made.space:
            raise self.error(
                f"'{name}' is a variable of the host",
                "write __device__ or __constant__ in front",
                place,
            )
        self.unit.variables[name] = (made._replace(extents=extents), value, place)
        return None

    def parameter(self):
        made, _ = self.type()
        while self.take("*"):
            if made.is_pointer:
                raise self.error("a pointer to pointers", "pass one array, and offsets into it")
            made = made._replace(is_pointer=True)
            while self.take(*_QUALIFIERS):
                pass
        if self.take("&"):
            self.take(*_QUALIFIERS)
            # What is not written is passed by value, but for arrays, which nobody copies.
            has_array = made.record is not None and records.has_array(made.record)
            made = made._replace(is_reference=not made.is_const or has_array)
        place = self.place
        name = self.name() if self.token.kind == "name" else f"unnamed{self.at}"
        if self.token.text == "[":
            extents = self.extents(first_may_be_open=True)
            made = made._replace(is_pointer=True, extents=extents[1:])
        if self.take("="):
            self.conditional()
        return made, name, place

    # ---- types
    def is_type(self, k=0):
        t = self.tokens[min(self.at + k, len(self.tokens) - 1)]
        while t.kind == "name" and self.peek(k + 1) == "::":  # thrust::complex
            k += 2
            t = self.tokens[min(self.at + k, len(self.tokens) - 1)]
        if t.text == "complex" and self.peek(k + 1) == "<":
            return True
        if t.kind != "name" or t.text in self.plain_names:
            return False
        known = t.text in _WORDS or t.text in _QUALIFIERS or t.text in SPACES or t.text in _KERNEL
        bound = self.bound.get(t.text)
        if known or t.text in self.unit.types or isinstance(bound, CType):
            return True
        if t.text in _TAGGED or t.text in ("union", "class"):
            return True
        return records.vector_named(t.text, self.is_cuda) is not None

    def type(self):
        """(CType without pointers, the words that stood there)."""
        words, base, space, is_const = [], None, "", False
        all_words = set()
        place = self.place
        while self.token.kind == "name":
            w = self.token.text
            if w in self.plain_names and (base or words):
                break
            if w in _QUALIFIERS or w in _KERNEL or w == "__host__":
                is_const = is_const or w in ("const", "constexpr")
            elif w in SPACES:
                space = SPACES[w] if SPACES[w] != "device" or not space else space
            elif w == "__launch_bounds__":
                self.at += 1
                self.parentheses()
                continue
            elif w in ("__attribute__", "__align__"):
                self.attributes()
                continue
            elif w in _TAGGED and base is None and not words:
                all_words.add(w)
                base = self.enumeration() if w == "enum" else self.struct()
                continue
            elif w in ("union", "class", "auto"):
                raise self.error(
                    f"'{w}' is not translated", "write a struct, and the type of each variable"
                )
            elif base is None and not words and isinstance(self.bound.get(w), CType):
                base = self.bound[w]
            elif base is None and not words and w in self.unit.types:
                base = self.unit.types[w]
            elif w in _PLAIN and (base is None):
                words.append(w)
            elif base is None and not words and w in _WORDS:
                base = CType(_WORDS[w])
            elif base is None and not words and self.peek() == "::":
                self.at += 2
                continue
            elif base is None and not words and w == "complex" and self.peek() == "<":
                base = self.complex_type()
                continue
            elif base is None and not words:
                vector = records.vector_named(w, self.is_cuda)
                if vector is None:
                    raise self.error(
                        f"'{w}' is no type that is known",
                        "use numbers, vectors and structs, and pointers to them",
                    )
                base = CType(vector.name, record=vector)
            else:
                break
            all_words.add(w)
            self.at += 1
        if base is None and not words:
            raise self.error(f"expected a type; got '{self.token.text}'", "write a type", place)
        made = base or CType(_plain(words))
        return made._replace(is_const=is_const or made.is_const, space=space), all_words

    def attributes(self):
        """Takes ``__attribute__((...))`` and ``__align__(n)``, and keeps what they say of layouts."""
        while self.token.text in ("__attribute__", "__align__", "alignas"):
            word = self.token.text
            self.at += 1
            first = self.at
            self.parentheses()
            inside = [t for t in self.tokens[first : self.at] if t.text not in "()"]
            self.packed = self.packed or any("packed" in t.text for t in inside)
            is_align = word != "__attribute__" or any("aligned" in t.text for t in inside)
            numbers = [number(t)[0] for t in inside if t.kind == "number"]
            if is_align and numbers:
                self.least_align = int(numbers[0])

    def struct(self):
        """The type of a ``struct``, at whose word the parser is, and its definition if there is one."""
        place = self.place
        self.at += 1
        self.packed, self.least_align = False, 1
        self.attributes()
        tag = self.name() if self.token.kind == "name" else f"struct {place.line}"
        if not self.take("{"):
            found = self.unit.structs.get(tag)
            if found is None:
                raise self.error(f"'struct {tag}' is not defined", "define it above", place)
            return found
        given, align = [], self.least_align
        while not self.take("}"):
            given += self.members()
        self.packed, self.least_align = False, align
        self.attributes()
        if self.packed:
            raise self.error(
                f"'{tag}' is packed, so that numbers have no place of their size",
                "leave packed out, and order the members by size", place,
            )  # fmt: skip
        if not given:
            raise self.error(f"'{tag}' has no members", "write what it has", place)
        if len({n for n, _ in given}) < len(given):
            raise self.error(f"two members of '{tag}' have one name", "rename one", place)
        found = CType(tag, record=records.struct(tag, given, self.least_align))
        self.unit.structs[tag] = self.unit.types[tag] = found
        return found

    def members(self):
        """The (name, CType) pairs of one declaration in a struct."""
        place = self.place
        made, _ = self.type()
        found = []
        while True:
            if made.is_pointer or self.token.text in ("*", "&"):
                raise self.error(
                    "a member is a pointer", "keep an index, and pass the array to the kernel"
                )
            name = self.name()
            if self.token.text == "(":
                raise self.error(
                    f"'{name}' is a function of a struct", "write a function that takes it", place
                )
            extents = tuple(self.whole(e) for e in self.extents())
            self.attributes()
            found.append((name, made._replace(extents=(*extents, *made.extents), space="")))
            if not self.take(","):
                break
        self.expect(";")
        return found

    def whole(self, e):
        """The value of an expression of constants."""
        made = None
        if e is None:
            made = None
        elif e[0] == "number" and isinstance(e[2], int):
            made = e[2]
        elif e[0] == "name" and e[2] in self.unit.constants:
            made = self.whole(self.unit.constants[e[2]][1])
        elif e[0] == "unary" and e[2] == "-":
            made = -self.whole(e[3])
        elif e[0] == "binary":
            made = folded(e[2], self.whole(e[3]), self.whole(e[4]), "int64")
        if made is None:
            raise self.error("a constant is needed", "write a number, or #define one", e and e[1])
        return int(made)

    def enumeration(self):
        """The type of an ``enum``, at whose word the parser is; its names are constants."""
        self.at += 1
        self.take("class")
        if self.token.kind == "name":
            self.unit.types[self.name()] = CType("int32")
        if self.take("{"):
            value = -1
            while not self.take("}"):
                place, name = self.place, self.name()
                value = self.whole(self.conditional()) if self.take("=") else value + 1
                self.unit.constants[name] = (CType("int32"), ("number", place, value, "int32"))
                if self.token.text != "}":
                    self.expect(",")
        return CType("int32")

    def complex_type(self):
        """The type ``complex<T>``, at whose first token the parser is."""
        self.at += 2
        part, _ = self.type()
        if self.token.text == ">>":  # the end of two lists of arguments
            self.tokens[self.at] = self.token._replace(text=">")
        else:
            self.expect(">")
        if part.base not in ("float32", "float64"):
            raise self.error(
                f"complex numbers are of float or double; got {part.base}", "write complex<float>"
            )
        return CType("complex64" if part.base == "float32" else "complex128")

    def parentheses(self):
        self.expect("(")
        depth = 1
        while depth and self.token.kind != "end":
            depth += {"(": 1, ")": -1}.get(self.token.text, 0)
            self.at += 1
        self.expect(")") if depth else None

    def extents(self, first_may_be_open=False):
        made = []
        while self.take("["):
            if self.token.text == "]":
                made.append(None)
            else:
                made.append(self.conditional())
            self.expect("]")
        return tuple(made)

    # ---- statements
    def block(self):
        place = self.place
        self.expect("{")
        made = []
        while not self.take("}"):
            if self.token.kind == "end":
                raise self.error("a block does not end", "add }", place)
            made.append(self.statement())
        return ("block", place, made)

    def statement(self):
        place, word = self.place, self.token.text
        if word == "{":
            return self.block()
        if self.take(";"):
            return ("block", place, [])
        if word in ("if", "while", "for", "do", "return", "break", "continue", "switch", "goto"):
            self.at += 1
            return getattr(self, f"statement_{word}")(place)
        if self.is_type() and not (self.peek() == "(" and self.token.text in _WORDS):
            return self.declaration()
        made = self.expression()
        self.expect(";")
        return ("evaluate", place, made)

    def statement_if(self, place):
        self.expect("(")
        test = self.expression()
        self.expect(")")
        yes = self.statement()
        no = self.statement() if self.take("else") else None
        return ("if", place, test, yes, no)

    def statement_while(self, place):
        self.expect("(")
        test = self.expression()
        self.expect(")")
        return ("while", place, test, self.statement())

    def statement_do(self, place):
        body = self.statement()
        self.expect("while")
        self.expect("(")
        test = self.expression()
        self.expect(")")
        self.expect(";")
        return ("do", place, test, body)

    def statement_for(self, place):
        self.expect("(")
        first = None
        if not self.take(";"):
            if self.is_type():
                first = self.declaration()
            else:
                first = ("evaluate", self.place, self.expression())
                self.expect(";")
        test = None if self.token.text == ";" else self.expression()
        self.expect(";")
        step = None if self.token.text == ")" else self.expression()
        self.expect(")")
        return ("for", place, first, test, step, self.statement())

    def statement_return(self, place):
        value = None if self.token.text == ";" else self.expression()
        self.expect(";")
        return ("return", place, value)

    def statement_break(self, place):
        self.expect(";")
        return ("break", place)

    def statement_continue(self, place):
        self.expect(";")
        return ("continue", place)

    def statement_goto(self, place):
        raise self.error("goto is not translated", "write a loop", place)

    def statement_switch(self, place):
        self.expect("(")
        value = self.expression()
        self.expect(")")
        self.expect("{")
        cases = []
        while not self.take("}"):
            here = self.place
            if self.take("case"):
                label = self.conditional()
            elif self.take("default"):
                label = None
            elif cases:
                cases[-1][2].append(self.statement())
                continue
            else:
                raise self.error("a switch begins with a case", "write case or default")
            self.expect(":")
            cases.append((here, label, []))
        return ("switch", place, value, cases)

    def declaration(self):
        place = self.place
        base, words = self.type()
        made = []
        if words & _TAGGED and self.take(";"):
            return ("block", place, [])
        while True:
            one = base
            while self.take("*"):
                if one.is_pointer:
                    raise self.error("a pointer to pointers", "use one array, and offsets into it")
                one = one._replace(is_pointer=True)
                while self.take(*_QUALIFIERS):
                    pass
            if self.token.text == "&":
                raise self.error("references are not translated", "use the element itself")
            here = self.place
            name = self.name()
            one = one._replace(extents=self.extents())
            value = None
            if self.take("="):
                value = self.initializer()
            elif self.token.text == "(":
                self.at += 1
                value = self.assignment()
                if one.base.startswith("complex") and self.take(","):
                    value = ("complex", here, one.base, value, self.assignment())
                if one.record:  # dim3 at(x, y)
                    value = ("list", here, [value])
                    while self.take(","):
                        value[2].append(self.assignment())
                    self.ones("dim3" in words, value[2])
                self.expect(")")
            elif self.token.text == "{":
                value = self.initializer()
            made.append((one, name, value, here))
            if not self.take(","):
                break
        self.expect(";")
        return ("declare", place, made, "extern" in words)

    def ones(self, is_dim3, items):
        """What a dim3 is not given is 1."""
        while is_dim3 and len(items) < 3:
            items.append(("number", self.place, 1, "uint32"))

    def initializer(self):
        place = self.place
        if not self.take("{"):
            return self.assignment()
        items = []
        while not self.take("}"):
            if self.take("."):
                here, name = self.place, self.name()
                self.expect("=")
                items.append(("named", here, name, self.initializer()))
            else:
                items.append(self.initializer())
            if self.token.text != "}":
                self.expect(",")
        return ("list", place, items)

    # ---- expressions
    def expression(self):
        made = self.assignment()
        while self.token.text == ",":
            place = self.place
            self.at += 1
            made = ("comma", place, made, self.assignment())
        return made

    def assignment(self):
        left = self.conditional()
        if self.token.kind == "op" and self.token.text in _ASSIGN:
            place, op = self.place, self.token.text
            self.at += 1
            return ("assign", place, op, left, self.assignment())
        return left

    def conditional(self):
        test = self.binary(0)
        if self.token.text != "?":
            return test
        place = self.place
        self.at += 1
        yes = self.expression()
        self.expect(":")
        return ("choose", place, test, yes, self.assignment())

    def binary(self, level):
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.token.kind == "op" and self.token.text in _LEVELS[level]:
            place, op = self.place, self.token.text
            self.at += 1
            left = ("binary", place, op, left, self.binary(level + 1))
        return left

    def unary(self):
        place, word = self.place, self.token.text
        if self.take("++", "--"):
            return ("step", place, word[0], self.unary(), True)
        if self.take("+", "-", "!", "~", "*", "&"):
            return ("unary", place, word, self.unary())
        if word == "sizeof":
            self.at += 1
            self.expect("(")
            made = self.cast_type() if self.is_type() else self.expression()
            self.expect(")")
            return ("sizeof", place, made)
        if word == "(" and self.is_type(1):
            self.at += 1
            made = self.cast_type()
            self.expect(")")
            if self.token.text == "{":  # (T){...}
                return self.postfix(("cast", place, made, self.initializer()))
            if made.record and not made.is_pointer and self.take("("):  # (float4)(a, b, c, d)
                items = [self.assignment()]
                while self.take(","):
                    items.append(self.assignment())
                self.expect(")")
                return self.postfix(("vector", place, made, items))
            return ("cast", place, made, self.unary())
        return self.postfix(self.primary())

    def cast_type(self):
        made, _ = self.type()
        while self.take("*"):
            made = made._replace(is_pointer=True)
        return made

    def postfix(self, made):
        while True:
            place = self.place
            if self.take("["):
                made = ("index", place, made, self.expression())
                self.expect("]")
            elif self.take("++", "--"):
                made = ("step", place, self.tokens[self.at - 1].text[0], made, False)
            elif self.token.text in (".", "->"):
                made = made if self.token.text == "." else ("unary", place, "*", made)
                self.at += 1
                made = ("member", place, made, self.name())
            elif self.token.text == "(":
                self.at += 1
                args = []
                while not self.take(")"):
                    args.append(self.assignment())
                    if self.token.text != ")":
                        self.expect(",")
                made = ("call", place, made, args)
            else:
                return made

    def primary(self):
        t, place = self.token, self.place
        if t.kind in ("number", "char"):
            self.at += 1
            return ("number", place, *number(t))
        if t.kind == "text":
            self.at += 1
            return ("text", place, t.text)
        if self.take("("):
            made = self.expression()
            self.expect(")")
            return made
        if t.text in ("true", "false"):
            self.at += 1
            return ("number", place, int(t.text == "true"), "bool")
        if t.text in ("static_cast", "reinterpret_cast"):
            self.at += 1
            self.expect("<")
            made = self.cast_type()
            self.expect(">")
            self.expect("(")
            value = self.expression()
            self.expect(")")
            return ("cast", place, made, value)
        if self.is_type() and t.text not in SPACES:  # T(x)
            made, _ = self.type()
            if made.record and self.token.text == "{":  # T{...}
                return ("cast", place, made, self.initializer())
            self.expect("(")
            if made.record:
                items = []
                while not self.take(")"):
                    items.append(self.assignment())
                    self.take(",")
                self.ones(t.text == "dim3", items)
                return ("cast", place, made, ("list", place, items))
            if self.take(")"):
                return ("cast", place, made, ("number", place, 0, "int32"))
            value = self.assignment()
            if made.base.startswith("complex") and self.take(","):
                value = ("complex", place, made.base, value, self.assignment())
            self.expect(")")
            return ("cast", place, made, value)
        if t.kind == "name":
            name = self.name()
            while self.take("::"):
                name = self.name()  # std::min
            bound = self.bound.get(name)
            if bound is not None:
                return ("number", place, bound, "bool" if isinstance(bound, bool) else "int32")
            if name in self.unit.templates and self.token.text == "<":
                return ("name", place, name, self.template_arguments())
            return ("name", place, name, None)
        raise self.error(f"expected an expression; got '{t.text}'", "complete it")

    def template_arguments(self):
        self.expect("<")
        made = []
        while not self.take(">"):
            made.append(self.cast_type() if self.is_type() else self.binary(8))
            self.take(",")
        return made


def _typed_by_cast(made, name, body):
    """A parameter that points to void as the pointer that the function casts it to, where it is one only."""
    if made.base != "void" or not made.is_pointer:
        return made
    found = set()
    _casts(body, name, found)
    return made._replace(base=found.pop()) if len(found) == 1 else made


def _casts(tree, name, found):
    if isinstance(tree, (tuple, list)):
        is_cast = isinstance(tree, tuple) and len(tree) == 4 and tree[0] == "cast"
        if is_cast and tree[2].is_pointer and tree[3][:1] == ("name",) and tree[3][2] == name:
            found.add(tree[2].base)
        for t in tree:
            _casts(t, name, found)


def _plain(words):
    is_unsigned = "unsigned" in words
    rest = [w for w in words if w not in ("unsigned", "signed")]
    if rest.count("long") and "double" not in rest:
        made = "int64"
    elif "short" in rest:
        made = "int16"
    elif not rest:
        made = "int32"
    else:
        made = _WORDS[[w for w in rest if w != "long"][-1]]
    return "u" + made if is_unsigned else made
