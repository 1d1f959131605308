"""``fortran``: subroutines and functions of compiled Fortran, described by their declarations."""

from __future__ import annotations

import re

from .c_module import c_module

_types = {
    "integer": {"": "int", "1": "signed char", "2": "short", "4": "int", "8": "long"},
    "real": {"": "float", "4": "float", "8": "double"},
    "double precision": {"": "double"},
    "logical": {"": "int", "1": "signed char", "4": "int"},
}
_kinds = {"c_int": "4", "c_long": "8", "c_int64_t": "8", "c_int32_t": "4", "c_float": "4", "c_double": "8",
          "int32": "4", "int64": "8", "real32": "4", "real64": "8", "c_bool": "1"}  # fmt: skip
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
        not ``intent(out)`` or ``intent(inout)`` are passed as numbers, all else as arrays; an array of two axes is
        in Fortran's order, so pass ``x.T`` of one in C's order.

    Raises
    ------
    ValueError
        Where a declaration cannot be read or an argument has no type.

    Notes
    -----
    Understood are integer, real, double precision and logical of fixed kinds. A plain procedure's symbol is its name in
    lower case with an underscore, as gfortran makes it.

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
    made = c_module(c_text(declarations), libraries=libraries)
    for name in [n for n in vars(made) if n.endswith(_suffix)]:
        setattr(made, name.removesuffix(_suffix), vars(made).pop(name))
    return made


def c_text(declarations):
    """Return the C text that calls procedures of these declarations."""
    made = []
    procedure = None
    for line in _lines(declarations):
        head = _head.fullmatch(line)
        if re.fullmatch(r"end(\s*(subroutine|function)(\s+\w+)?)?", line, re.I):
            procedure = None
        elif head:
            procedure = _Procedure(head)
            made.append(procedure)
        elif procedure is None:
            raise ValueError(
                f"fortran: the declaration cannot be read; got {line!r}; begin with 'subroutine name(arguments)'"
            )
        else:
            procedure.declare(line)
    return "\n".join(p.text() for p in made)


def _lines(text):
    """Statements without comments and continuations."""
    plain = re.sub(r"!.*", "", text)
    plain = re.sub(r"&\s*\n\s*&?", " ", plain)
    for line in plain.replace(";", "\n").splitlines():
        line = line.strip()
        if line and not re.match(
            r"(implicit|use|import|interface|end interface|contains)\b", line, re.I
        ):
            yield line


def _c_type(text, line):
    text = text.strip().lower()
    found = re.fullmatch(
        r"(integer|real|logical|double precision)\s*(?:\(\s*(?:kind\s*=)?\s*(\w+)\s*\)|\*\s*(\d+))?",
        text,
    )
    kind = (found.group(2) or found.group(3) or "") if found else ""
    kind = _kinds.get(kind, kind)
    if not found or kind not in _types[found.group(1)]:
        raise ValueError(
            f"fortran: the type cannot be used; got {text!r} in {line!r}; expected integer, real, double precision or "
            f"logical of a known kind"
        )
    return _types[found.group(1)][kind]


class _Procedure:
    """One subroutine or function."""

    def __init__(self, head):
        self.name = head["name"].lower()
        self.args = [a.strip().lower() for a in head["args"].split(",") if a.strip()]
        self.is_function = head["what"].lower() == "function"
        rest = head["rest"]
        bound = re.search(r"bind\s*\(\s*c\s*(?:,\s*name\s*=\s*['\"](\w+)['\"])?\s*\)", rest, re.I)
        self.symbol = (bound.group(1) or self.name) if bound else self.name + "_"
        returned = re.search(r"result\s*\(\s*(\w+)\s*\)", rest, re.I)
        self.returned = returned.group(1).lower() if returned else self.name
        self.types = {}
        prefix = re.sub(
            r"\b(pure|elemental|recursive|module)\b", "", head["result"] or "", flags=re.I
        ).strip()
        if prefix:
            self.types[self.returned] = (_c_type(prefix, head.group(0)), False, False, False)

    def declare(self, line):
        """One line as ``real(8), intent(in) :: a, x(n)``."""
        parts = re.fullmatch(r"(.*?)::(.*)", line) or re.fullmatch(
            r"((?:double precision|[a-zA-Z]+)\s*(?:\([^)]*\)|\*\s*\d+)?)\s+(.*)", line
        )
        if not parts:
            raise ValueError(
                f"fortran: the declaration cannot be read; got {line!r}; write it as 'real(8), intent(in) :: x(n)'"
            )
        kind, *attributes = re.split(r",(?![^(]*\))", parts.group(1))
        attributes = [a.strip().lower().replace(" ", "") for a in attributes]
        made = _c_type(kind, line)
        everywhere = any(a.startswith("dimension") for a in attributes)
        writes = any(a in ("intent(out)", "intent(inout)") for a in attributes)
        reads = "intent(in)" in attributes
        for name in re.findall(r"(\w+)\s*(\([^)]*\))?", parts.group(2)):
            is_array = bool(name[1]) or everywhere
            self.types[name[0].lower()] = (made, is_array or writes, reads, "value" in attributes)

    def text(self):
        """Its declaration, and a C function that takes numbers as numbers."""
        outer, inner, passed = [], [], []
        for name in self.args:
            if name not in self.types:
                raise ValueError(
                    f"fortran: argument '{name}' of {self.name} has no type; got {sorted(self.types)}; declare it"
                )
            kind, is_pointer, reads, by_value = self.types[name]
            const = "const " if reads or not is_pointer else ""
            inner.append(f"{kind} {name}" if by_value else f"{const}{kind}* {name}")
            outer.append(f"{const}{kind}* {name}" if is_pointer else f"{kind} {name}")
            passed.append(name if is_pointer or by_value else f"&{name}")
        result = "void"
        if self.is_function:
            if self.returned not in self.types:
                raise ValueError(
                    f"fortran: the result of {self.name} has no type; got {self.name}; write it as "
                    f"'real(8) function {self.name}(...)'"
                )
            result = self.types[self.returned][0]
        call = f"{self.symbol}({', '.join(passed)});"
        back = "return " if self.is_function else ""
        # One of bind(C) has the name already: ours gets another, which fortran() takes back.
        own = self.name + _suffix if self.symbol == self.name else self.name
        return (
            f"extern {result} {self.symbol}({', '.join(inner) or 'void'});\n"
            f"{result} {own}({', '.join(outer) or 'void'}) {{ {back}{call} }}"
        )
