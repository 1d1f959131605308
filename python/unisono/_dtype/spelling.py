"""Reads type signatures in Numba's spellings: ``"float64(float64[:, ::1], int64)"``, ``"f8(f8)"``, ``"(i4, f4[:])"``.

Types are plain tuples, so that they compare and hash:

- ``("scalar", dtype name)``
- ``("array", dtype name, rank, layout, is read-only)``; the layout is ``"C"`` (``::1`` last), ``"F"`` (``::1``
  first) or ``"A"`` (any strides)
- ``("pointer", dtype name or None)``: ``CPointer(float64)``, ``voidptr``; ``("pointer", None, dtype)`` to records
- ``("tuple", types)``, ``("list", type)``, ``("dict", key, value)``, ``("set", type)``, ``("text",)``
- ``("optional", type)``
- ``("record", NumPy's dtype, rank)``: a structured array, of rank 0 one of its elements
- ``("object", class)``: of a compiled class
- ``("void",)``
"""

from __future__ import annotations

import re

_names = {
    "bool": "bool", "boolean": "bool", "bool_": "bool", "b1": "bool",
    "int8": "int8", "i1": "int8", "int16": "int16", "i2": "int16", "int32": "int32", "i4": "int32",
    "int64": "int64", "i8": "int64", "uint8": "uint8", "u1": "uint8", "uint16": "uint16", "u2": "uint16",
    "uint32": "uint32", "u4": "uint32", "uint64": "uint64", "u8": "uint64",
    "byte": "uint8", "uchar": "uint8", "char": "int8", "short": "int16", "ushort": "uint16",
    "intc": "int32", "uintc": "uint32", "int_": "int64", "uint": "uint64", "intp": "int64", "uintp": "uint64",
    "ssize_t": "int64", "size_t": "uint64", "long_": "int64", "ulong": "uint64", "longlong": "int64",
    "ulonglong": "uint64", "int": "int64", "long": "int64",
    "float16": "float16", "f2": "float16", "float32": "float32", "f4": "float32", "float_": "float32",
    "float64": "float64", "f8": "float64", "double": "float64", "float": "float64",
    "complex64": "complex64", "c8": "complex64", "complex128": "complex128", "c16": "complex128",
}  # fmt: skip
_containers = {
    "List": ("list", 1), "ListType": ("list", 1), "list": ("list", 1), "Set": ("set", 1), "set": ("set", 1),
    "DictType": ("dict", 2), "dict": ("dict", 2), "Optional": ("optional", 1), "optional": ("optional", 1),
}  # fmt: skip
_kinds = (
    "scalar array pointer tuple list dict set text optional record object function void".split()
)
_token = re.compile(r"\s*(?:([A-Za-z_]\w*)|(::\s*1)|(\d+)|(->|[()\[\],:*]))")


class _Reader:
    """A recursive descent over the tokens of one text."""

    def __init__(self, text, what):
        self.text, self.what, self.at, self.tokens = text, what, 0, []
        place = 0
        while text[place:].strip():
            found = _token.match(text, place)
            if not found:
                self.tokens.append(("", place))
                break
            self.tokens.append((found.group(0).strip().replace(" ", ""), found.start(0)))
            place = found.end(0)

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or (wanted is not None and token != wanted):
            self.refuse(f"'{wanted}'" if wanted else "a type")
        self.at += 1
        return token

    def refuse(self, expected):
        token = self.peek()
        place = f"'{token}'" if token else "its end" if token is None else "an odd character"
        raise TypeError(
            f"{self.what}: the signature cannot be read; got {self.text!r}, with {place} where {expected} should be; "
            f"write it as 'float64(float64, int64[:])'"
        )

    def items(self, end):
        """Types up to the closing token."""
        made = []
        while self.peek() != end:
            made.append(self.type())
            if self.peek() != end:
                self.take(",")
        self.take(end)
        return tuple(made)

    def type(self):
        made = self.plain_type()
        while self.peek() == "*":
            self.take()
            made = ("pointer", made[1] if made[0] == "scalar" else None)
        if self.peek() == "[":
            made = self.array(made)
        return made

    def plain_type(self):
        if self.peek() == "(":
            self.take()
            return ("tuple", self.items(")"))
        name = self.take()
        if name in ("void", "none", "NoneType"):
            return ("void",)
        if name in ("unicode_type", "string", "str"):
            return ("text",)
        if name in _containers:
            self.take("(")
            inner = self.items(")")
            kind, count = _containers[name]
            if len(inner) != count:
                self.at -= 1
                self.refuse("a type" if count == 1 else "the types of keys and values")
            return (kind, *inner)
        if name == "voidptr":
            return ("pointer", None)
        if name == "CPointer":
            self.take("(")
            inner = self.type()
            self.take(")")
            return ("pointer", inner[1] if inner[0] == "scalar" else None)
        if name == "UniTuple":
            self.take("(")
            inner = self.type()
            self.take(",")
            count = self.take()
            if not count.isdigit():
                self.at -= 1
                self.refuse("a number of items")
            self.take(")")
            return ("tuple", (inner,) * int(count))
        if name == "Tuple":
            self.take("(")
            inner = self.type()
            self.take(")")
            return inner if inner[0] == "tuple" else ("tuple", (inner,))
        if name in ("Array", "array"):
            return self.long_array()
        if name not in _names:
            self.at -= 1
            self.refuse("the name of a type")
        return ("scalar", _names[name])

    def array(self, element):
        if element[0] != "scalar":
            self.refuse("no array of these")
        self.take("[")
        axes = []
        while True:
            axes.append(self.take())
            if axes[-1] not in (":", "::1"):
                self.at -= 1
                self.refuse("':' or '::1'")
            if self.peek() == "]":
                break
            self.take(",")
        self.take("]")
        if "::1" in axes[1:-1]:
            self.refuse("'::1' on the first or the last axis")
        layout = "C" if axes[-1] == "::1" else "F" if axes[0] == "::1" else "A"
        return ("array", element[1], len(axes), layout, False)

    def long_array(self):
        """Array(dtype, rank, 'C')."""
        self.take("(")
        element = self.type()
        self.take(",")
        rank = int(self.take())
        layout = "A"
        if self.peek() == ",":
            self.take()
            layout = self.take()
        self.take(")")
        return ("array", element[1], rank, layout, False)


def parse_type(text, what="jit"):
    """Read one type.

    Parameters
    ----------
    text : str
        A type in Numba's spelling; or a dtype, or a Python type (bool, int, float, complex).
    what : str
        The decorator's name, for errors.

    Returns
    -------
    tuple
        The type as this module's head describes it.

    Raises
    ------
    TypeError
        If the text cannot be parsed.
    """
    if not isinstance(text, str) or hasattr(text, "_parsed"):
        return _of_object(text, what)
    reader = _Reader(text, what)
    made = reader.type()
    if reader.peek() is not None:
        reader.refuse("its end")
    return made


def _of_object(given, what):
    if isinstance(given, tuple) and given and given[0] in _kinds:
        return given
    if given is None:
        return ("void",)
    if hasattr(given, "_parsed"):  # of types.py
        return given._parsed
    if given is str:
        return ("text",)
    python = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    plain = python.get(given) if isinstance(given, type) else None
    name = plain or getattr(given, "name", None) or getattr(given, "__name__", None)
    if name in _names:
        return ("scalar", _names[name])
    raise TypeError(
        f"{what}: a type is a text or a dtype; got {given!r}; write it as 'float64' or 'float64[:]'"
    )


def parse_signature(given, what="jit"):
    """Read one signature.

    Parameters
    ----------
    given : str or tuple
        ``"result(argument, ...)"``, ``"(argument, ...)"`` or ``"argument, argument, ..."``, or a tuple of argument types.
    what : str
        The decorator's name, for errors.

    Returns
    -------
    result : tuple or None
        The result's type; None where the signature leaves it open.
    arguments : tuple of tuples

    Raises
    ------
    TypeError
        If the signature cannot be parsed.

    Examples
    --------
    >>> from unisono._dtype.spelling import parse_signature
    >>> parse_signature("float64(int64, f4[:, ::1])")
    (('scalar', 'float64'), (('scalar', 'int64'), ('array', 'float32', 2, 'C', False)))
    """
    if isinstance(given, (tuple, list)):
        return None, tuple(parse_type(t, what) for t in given)
    if hasattr(given, "return_type"):  # of types.py
        return parse_type(given.return_type, what), tuple(parse_type(t, what) for t in given.args)
    if not isinstance(given, str):
        raise TypeError(
            f"{what}: a signature is a text or a tuple of types; got {given!r}; "
            f"write it as 'float64(float64, int64[:])'"
        )
    reader = _Reader(given, what)
    result = None
    if reader.peek() != "(":
        result = reader.type()
    if reader.peek() == ",":
        arguments = [result]
        while reader.peek() == ",":
            reader.take()
            arguments.append(reader.type())
        result, arguments = None, tuple(arguments)
    else:
        reader.take("(")
        arguments = reader.items(")")
    if reader.peek() is not None:
        reader.refuse("its end")
    return result, arguments


def parse_signatures(given, what="jit"):
    """Read one signature or a list of them, as decorators take them.

    Parameters
    ----------
    given : str, tuple or list
        One signature, or a list of signatures. A tuple is one signature unless it holds texts with parentheses.
    what : str
        The decorator's name, for errors.

    Returns
    -------
    list of tuples
        ``(result or None, arguments)`` each.
    """
    if isinstance(given, str):
        return [parse_signature(given, what)]
    if isinstance(given, list) or any(isinstance(t, str) and t.endswith(")") for t in given):
        return [parse_signature(s, what) for s in given]
    return [parse_signature(given, what)]


def spell(type_):
    """Return the type as signatures write it."""
    if isinstance(type_, str):
        return str(type_)
    kind = type_[0]
    if kind == "scalar":
        return type_[1]
    if kind == "array":
        axes = [":"] * type_[2]
        if type_[3] == "C":
            axes[-1] = "::1"
        elif type_[3] == "F":
            axes[0] = "::1"
        return f"{type_[1]}[{', '.join(axes)}]"
    if kind == "pointer":
        to = type_[1] or (f"Record({type_[2]})" if len(type_) > 2 else None)
        return f"CPointer({to})" if to else "voidptr"
    if kind == "tuple":
        return f"Tuple(({', '.join(map(spell, type_[1]))}))"
    if kind in ("list", "dict", "set", "optional"):
        name = {"list": "ListType", "dict": "DictType", "set": "Set", "optional": "Optional"}[kind]
        return f"{name}({', '.join(map(spell, type_[1:]))})"
    if kind == "record":
        return f"Record({type_[1]}){'[' + ', '.join([':'] * type_[2]) + ']' if type_[2] else ''}"
    if kind == "object":
        return type_[1].__name__
    if kind == "function":
        return f"FunctionType({type_[1]})"
    return "unicode_type" if kind == "text" else "void"
