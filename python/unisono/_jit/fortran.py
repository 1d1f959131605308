"""``fortran``: subroutines and functions of compiled Fortran, described by their declarations."""

from __future__ import annotations

import re

from .c_module import compiled

_types = {
    "integer": {"": "int", "1": "signed char", "2": "short", "4": "int", "8": "long"},
    "real": {"": "float", "4": "float", "8": "double"},
    "complex": {"": "float _Complex", "4": "float _Complex", "8": "double _Complex"},
    "double precision": {"": "double"},
    "double complex": {"": "double _Complex"},
    "logical": {"": "int", "1": "signed char", "4": "int"},
    "character": {"": "char", "1": "char"},
}
_kinds = {"c_int": "4", "c_long": "8", "c_int64_t": "8", "c_int32_t": "4", "c_float": "4", "c_double": "8",
          "int32": "4", "int64": "8", "real32": "4", "real64": "8", "c_bool": "1", "c_short": "2", "c_char": "1",
          "c_float_complex": "4", "c_double_complex": "8", "c_size_t": "8", "c_int8_t": "1", "c_int16_t": "2"}  # fmt: skip
_type = re.compile(
    r"(?P<type>integer|real|logical|double\s*precision|double\s*complex|complex|character|type)\b\s*"
    r"(?:\*\s*(?P<bytes>\d+|\(\*\))|\((?P<kind>[^)]*)\))?\s*(?P<rest>.*)",
    re.I,
)
_suffix = "_of_fortran"
_head = re.compile(
    r"(?:(?P<result>.*?)\s*)?\b(?P<what>subroutine|function)\s+(?P<name>\w+)\s*\((?P<args>[^)]*)\)\s*(?P<rest>.*)",
    re.I,
)


def fortran(declarations, libraries=()):
    """Call Fortran: plain subroutines and functions, or those with ``bind(C)``, of shared libraries.

    Parameters
    ----------
    declarations : str
        Their heads and the declarations of their arguments, as Fortran writes them (free form).
    libraries : sequence of str
        Paths of the shared libraries that hold them.

    Returns
    -------
    CModule
        Has the functions as attributes; they are called from Python and from compiled functions. Numbers that are
        not ``intent(out)`` or ``intent(inout)`` are passed as numbers, all else as arrays, whose memory Fortran sees
        as it lies: make those of several axes in its order, as ``np.zeros((n, m), order="F")``. Of an array in C's
        order it sees the transpose.

    Raises
    ------
    ValueError
        Where a declaration cannot be read or an argument has no type.

    Notes
    -----
    Understood are integer, real, double precision, complex and logical of fixed kinds, and character as ``intent(in)``,
    which takes str. A plain procedure's symbol is its name in lower case with an underscore, as gfortran makes it, and
    that of a procedure between ``module`` and ``end module`` has the module's name in front. Statements are passed
    over, so that a whole source file can be given; so is what f2py's signature files say beside types, shapes and intents.

    Examples
    --------
    >>> from unisono._jit.fortran import c_text
    >>> print(
    ...     c_text(
    ...         "subroutine scale(n, x)\\n  integer, intent(in) :: n\\n  real(8) :: x(n)\\nend subroutine"
    ...     )
    ... )
    extern void scale_(const int* n, double* x);
    void scale(int n, double* x) { scale_(&n, x); }
    """
    procedures = _procedures(declarations)
    refused = {p.name: p for p in procedures if p.refused}
    if refused and len(refused) == len(procedures):
        raise ValueError(f"fortran: {procedures[0].refused}; got {procedures[0].line!r}")
    text = "\n".join(p.text() for p in procedures if not p.refused)
    made = compiled(text, None, libraries=libraries, any_order=True)
    made._refused |= {name: (p.line, p.refused) for name, p in refused.items()}
    for name in [n for n in vars(made) if n.endswith(_suffix)]:
        setattr(made, name.removesuffix(_suffix), vars(made).pop(name))
    return made


def c_text(declarations):
    """Return the C text that calls procedures of these declarations."""
    return "\n".join(p.text() for p in _procedures(declarations))


def _procedures(declarations):
    made, kinds = [], _kinds | _kind_constants(declarations)
    procedure = module = None
    for line in _lines(declarations):
        head = _head.fullmatch(line)
        of_module = re.fullmatch(r"module\s+(\w+)", line, re.I)
        if re.fullmatch(r"end(\s*(subroutine|function)(\s+\w+)?)?", line, re.I):
            procedure = None
        elif of_module and of_module[1].lower() != "procedure":
            module = of_module[1].lower()
        elif re.match(r"end\s*module\b", line, re.I):
            module = None
        elif head and "=" not in line.split("(")[0]:
            procedure = _Procedure(head, module, kinds)
            made.append(procedure)
        elif procedure is not None:
            procedure.declare(line)
        elif module is None and not re.match(r"(python\s+module|end)\b", line, re.I):
            raise ValueError(
                f"fortran: the declaration cannot be read; got {line!r}; begin with 'subroutine name(arguments)'"
            )
    return made


def _kind_constants(text):
    """Names of kinds that the text gives: ``integer, parameter :: dp = kind(1d0)``, ``use ..., only: dp => real64``."""
    plain, made = re.sub(r"!.*", "", text).lower(), {}
    plain = re.sub(r"&\s*\n\s*&?", " ", plain)
    for line in re.findall(r"^\s*use\b.*", plain, re.M):
        made |= {n: _kinds[k] for n, k in re.findall(r"(\w+)\s*=>\s*(\w+)", line) if k in _kinds}
    for line in re.findall(r"\binteger\b[^:\n]*,\s*parameter\s*::(.*)", plain):
        for name, value in re.findall(r"(\w+)\s*=\s*(\w+(?:\s*\([^)]*\))?)", line):
            kind = _kind_of(value.replace(" ", ""), made)
            if kind:
                made[name] = kind
    return made


def _kind_of(value, known):
    """The kind that ``kind(1d0)``, ``selected_real_kind(15)`` or a name of one stands for."""
    if re.fullmatch(r"kind\([\d.]+d[+-]?\d+\)", value):
        return "8"
    if re.fullmatch(r"kind\([\d.]+(e[+-]?\d+)?\)", value):
        return "4"
    digits = re.match(r"selected_(real|int)_kind\((?:p=|r=)?(\d+)", value)
    if digits:
        steps = {"real": ((6, "4"), (15, "8")), "int": ((2, "1"), (4, "2"), (9, "4"), (18, "8"))}
        return next((k for most, k in steps[digits[1]] if int(digits[2]) <= most), None)
    return value if value.isdigit() else known.get(value) or _kinds.get(value)


def _lines(text):
    """Statements without comments and continuations."""
    plain = re.sub(r"!.*", "", text)
    plain = re.sub(r"&\s*\n\s*&?", " ", plain)
    for line in plain.replace(";", "\n").splitlines():
        line = line.strip()
        if line and not re.match(
            r"(implicit|use|import|interface|end interface|contains|private|public)\b", line, re.I
        ):
            yield line


def _c_type(found, line, kinds):
    """The C type of what `_type` found."""
    name = re.sub(r"double\s*", "double ", found["type"].lower())
    kind = (found["kind"] or "").lower().replace(" ", "").removeprefix("kind=")
    if found["bytes"]:
        kind = str(int(found["bytes"]) // 2) if name == "complex" else found["bytes"]
    kind = kinds.get(kind, kind)
    if name == "character" and kind in ("*", "len=*", "(*)"):
        kind = ""
    if kind not in _types.get(name, ()):
        got = f"{name}({kind})" if kind else name
        raise ValueError(
            f"fortran: the type cannot be used; got {got!r} in {line!r}; expected integer, real, complex, "
            f"double precision or logical of a known kind, or character(len=*)"
        )
    return _types[name][kind]


def _names(text):
    """(name, its shape or None) of each in ``a, x(n), k = 3``."""
    for item in re.split(r",(?![^(]*\))", text):
        found = re.match(r"\s*(\w+)\s*(?:\(([^)]*))?", item)
        if found:
            yield found[1].lower(), found[2]


class _Procedure:
    """One subroutine or function."""

    def __init__(self, head, module, kinds):
        self.name, self.line, self.kinds = head["name"].lower(), head.group(0), kinds
        self.refused = None  # why it cannot be called
        self.args = [a.strip().lower() for a in head["args"].split(",") if a.strip()]
        self.is_function = head["what"].lower() == "function"
        rest = head["rest"]
        bound = re.search(r"bind\s*\(\s*c\s*(?:,\s*name\s*=\s*['\"](\w+)['\"])?\s*\)", rest, re.I)
        plain = f"__{module}_MOD_{self.name}" if module else self.name + "_"
        self.is_bound = bound is not None
        self.symbol = (bound.group(1) or self.name) if bound else plain
        returned = re.search(r"result\s*\(\s*(\w+)\s*\)", rest, re.I)
        self.returned = returned.group(1).lower() if returned else self.name
        self.types, self.arrays, self.intents = {}, set(), {}
        self.by_value = set()
        prefix = re.sub(
            r"\b(pure|elemental|recursive|module)\b", "", head["result"] or "", flags=re.I
        ).strip()
        found = _type.fullmatch(prefix)
        if found:
            self.types[self.returned] = _c_type(found, self.line, kinds)

    def declare(self, line):
        """One line as ``real(8), intent(in) :: a, x(n)``; statements that declare nothing are passed over."""
        found = _type.fullmatch(line)
        words, colons, names = line.rpartition("::") if "::" in line else ("", "", "")
        if found:
            words, _, names = found["rest"].rpartition("::")
            is_declaration = bool(colons) or re.match(r"\w+\s*(\(|,|$)", names)
            if not is_declaration or "=" in names.split("(")[0] and not colons:
                return
        else:
            plain = re.fullmatch(r"((?:dimension|intent\s*\([^)]*\)|value))\s+(.*)", line, re.I)
            if plain and not colons:
                words, names = plain[1], plain[2]
            elif not colons or not re.match(r"(dimension|intent|value|optional)\b", words, re.I):
                return
        attributes = words.lower().replace(" ", "")
        intent = re.search(r"intent\(([^)]*)\)", attributes)
        common = re.search(r"dimension\(([^)]*)", attributes)
        is_described = re.search(r"\b(allocatable|pointer)\b", attributes)
        for name, own in _names(names):
            if name not in self.args and name != self.returned:
                continue
            if found:
                self.types[name] = _c_type(found, line, self.kinds)
            shape = own if own is not None else common and common[1]
            if shape is not None:
                self.arrays.add(name)
            if is_described or re.search(r":\s*(,|$)", shape or ""):
                self.refused = (
                    f"argument '{name}' of {self.name} comes with a description of the array, which compilers write each "
                    f"in their own way: declare its extents, as {name}(n), or write a procedure around it that does"
                )
            if intent:
                self.intents[name] = set(intent[1].split(","))
            if re.search(r"\bvalue\b", attributes):
                self.by_value.add(name)

    def text(self):
        """Its declaration, and a C function that takes numbers as numbers."""
        outer, inner, passed, lengths = [], [], [], []
        for name in self.args:
            if name not in self.types:
                raise ValueError(
                    f"fortran: argument '{name}' of {self.name} has no type; got {sorted(self.types)}; declare it"
                )
            kind, intents = self.types[name], self.intents.get(name, set())
            writes = bool(intents & {"out", "inout", "inplace"})
            is_pointer = name in self.arrays or writes or kind == "char"
            if kind == "char" and writes:
                raise ValueError(
                    f"fortran: argument '{name}' of {self.name} is text that is written; got intent({', '.join(intents)}); "
                    f"write a Fortran procedure around it that fills an array of integers"
                )
            by_value = name in self.by_value
            const = "const " if intents == {"in"} or not is_pointer or kind == "char" else ""
            inner.append(f"{kind} {name}" if by_value else f"{const}{kind}* {name}")
            outer.append(f"{const}{kind}* {name}" if is_pointer else f"{kind} {name}")
            passed.append(name if is_pointer or by_value else f"&{name}")
            if kind == "char" and not self.is_bound:
                lengths.append(f"__builtin_strlen({name})")
        inner += ["unsigned long"] * len(lengths)  # as gfortran has them
        passed += lengths
        result = "void"
        if self.is_function:
            if self.returned not in self.types:
                raise ValueError(
                    f"fortran: the result of {self.name} has no type; got {self.name}; write it as "
                    f"'real(8) function {self.name}(...)'"
                )
            result = self.types[self.returned]
        call = f"{self.symbol}({', '.join(passed)});"
        back = "return " if self.is_function else ""
        # One of bind(C) has the name already: ours gets another, which fortran() takes back.
        own = self.name + _suffix if self.symbol == self.name else self.name
        return (
            f"extern {result} {self.symbol}({', '.join(inner) or 'void'});\n"
            f"{result} {own}({', '.join(outer) or 'void'}) {{ {back}{call} }}"
        )
