"""Declarations of a cdef, as CFFI's users write them beside a text that declares some of them, too."""

from __future__ import annotations

import re

_token = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/) | (?P<line>^[ \t]*\#(?:\\\n|[^\n])*)
    | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | (?P<open>[{(]) | (?P<close>[})]) | (?P<end>;) | .""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_tag = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
_typedef = re.compile(r"\}\s*\**\s*(\w+)\s*$")
_enumerators = re.compile(r"\benum\b[^{]*\{\s*(\w+)", re.DOTALL)


def only_new(cdef, structs, constants):
    """The text without what the other text has: structs and enumerations, and whatever CFFI leaves to the compiler
    (``...``, but for arguments). Lines keep their numbers.
    """
    made = []
    for piece in _pieces(cdef):
        if _is_known(piece, structs, constants):
            piece = "\n" * piece.count("\n")
        made.append(piece)
    return "".join(made)


def _pieces(cdef):
    """Declarations with their semicolons, and lines of the preprocessor."""
    start = depth = 0
    for token in _token.finditer(cdef):
        kind = token.lastgroup
        if kind == "line" and depth == 0:
            yield cdef[start : token.start()]
            yield token[0]
            start = token.end()
        elif kind in ("open", "close"):
            depth += 1 if kind == "open" else -1
        elif kind == "end" and depth == 0:
            yield cdef[start : token.end()]
            start = token.end()
    yield cdef[start:]


def _is_known(piece, structs, constants):
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", piece, flags=re.DOTALL).strip().rstrip(";").rstrip()
    if plain.startswith("#"):
        return plain.endswith("...")
    if "{" not in plain:
        return plain.startswith("typedef") and "..." in re.sub(r"\([^()]*\)", "", plain)
    names = {*_tag.findall(plain), *_typedef.findall(plain)}
    first = _enumerators.search(plain)
    return bool(names & structs) or bool(first and first[1] in constants)
