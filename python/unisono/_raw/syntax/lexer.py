"""Tokens of C text, behind a preprocessor of ``#define``, ``#if`` and their like."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ..._engine import CompileError
from . import headers

_token = re.compile(
    r"""(?P<name>[A-Za-z_]\w*)
    |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|0[bB][01]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?|\d+[uUlL]*)
    |(?P<text>"(?:\\.|[^"\\])*")
    |(?P<char>'(?:\\.|[^'\\])')
    |(?P<op><<=|>>=|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])""",
    re.VERBOSE,
)
_most_nested = 200  # files that include each other
_space = re.compile(r"[ \t\r\f\v]+")
_escapes = {"n": 10, "t": 9, "0": 0, "r": 13, "\\": 92, "'": 39}


class Token(NamedTuple):
    """A word of C: its kind, its text, and where it stands, lines from 1 and columns from 0."""

    kind: str
    text: str
    line: int
    column: int


class Place(NamedTuple):
    """Where something stands."""

    line: int
    column: int


class Source:
    """The text with its name: errors show its lines."""

    def __init__(self, text, name):
        self.name, self.lines = name, text.split("\n")

    def error(self, place, what, advice):
        """A CompileError that shows the line."""
        line = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        return CompileError(
            f"{what}\n  {self.name}:{place.line}:{place.column + 1}\n    {line}\n    {' ' * place.column}^\n"
            f"  what to do: {advice}"
        )


def tokens(text, source, macros=(), folders=(), skips_missing=False):
    """The tokens of C text, macros expanded.

    Parameters
    ----------
    text : str
    source : Source
    macros : sequence of str
        ``"NAME"`` or ``"NAME=value"``.
    folders : sequence of str
        Where files that are included lie.
    skips_missing : bool
        Whether files that are not found are left out.
    """
    pre = _Preprocessor(source, folders, skips_missing)
    for m in macros:
        name, _, value = m.partition("=")
        pre.defined[name] = (None, list(_line_tokens(value or "1", 0, 0, source)))
    return pre.run(_without_comments(text))


def _without_comments(text):
    keep = lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else m.group()  # noqa: E731
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, keep, text, flags=re.DOTALL)


def _line_tokens(text, line, column, source):
    at = 0
    while at < len(text):
        space = _space.match(text, at)
        if space:
            at = space.end()
            continue
        m = _token.match(text, at)
        if not m:
            raise source.error(
                Place(line, column + at), f"the character {text[at]!r} is not C", "leave it out"
            )
        yield Token(m.lastgroup, m.group(), line, column + at)
        at = m.end()


class _Preprocessor:
    def __init__(self, source, folders, skips_missing):
        self.source, self.defined, self.active = source, {}, []
        self.folders, self.skips_missing = folders, skips_missing
        self.once, self.files = set(), []  # headers that are read once; files that are being read
        self.was_active = []  # whether a branch of each #if was taken

    def run(self, text):
        out = []
        self.read(text, out)
        if self.active:
            lines = text.count("\n") + 1
            raise self.source.error(Place(lines, 0), "#if without #endif", "add #endif")
        return self.expanded(out, frozenset())

    def read(self, text, out, at=None):
        """Adds the tokens of a text; those of a file stand in the line that includes it."""
        lines = text.split("\n")
        k = 0
        while k < len(lines):
            line, number = lines[k], at or k + 1
            while line.endswith("\\") and k + 1 < len(lines):
                k += 1
                line = line[:-1] + " " + lines[k]
            k += 1
            if line.lstrip().startswith("#"):
                self.directive(line.lstrip()[1:].strip(), number)
                if all(self.active):
                    self.include(line, number, out)
            elif all(self.active):
                out += _line_tokens(line, number, 0, self.source)

    def include(self, line, number, out):
        """Reads what a line includes, if it does."""
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]*)[>"]', line)
        if not found or found[1] in self.once:
            return
        name = found[1]
        if name in headers.TEXTS:
            self.once.add(name)
            self.read(_without_comments(headers.TEXTS[name]), out, number)
        elif not headers.is_known(name):
            self.include_file(name, number, out)

    def include_file(self, name, number, out):
        place = Place(number, 0)
        around = [os.path.dirname(f) for f in self.files[-1:]]
        paths = (os.path.join(folder, name) for folder in (*around, *self.folders))
        path = next((os.path.realpath(p) for p in paths if os.path.isfile(p)), None)
        if path is None and self.skips_missing or path in self.once:
            return
        if path is None:
            raise self.source.error(
                place, f'cannot open source file "{name}"', "name its folder in the options: -Ifolder"
            )  # fmt: skip
        if len(self.files) == _most_nested:
            raise self.source.error(
                place, f'"{name}" includes itself', "write #pragma once into it"
            )
        with open(path, encoding="utf-8") as file:
            text = _without_comments(file.read())
        if re.search(r"^\s*#\s*pragma\s+once\b", text, re.MULTILINE):
            self.once.add(path)
        self.files.append(path)
        self.read(text, out, number)
        self.files.pop()

    def directive(self, text, line):
        word = re.match(r"\w*", text)[0]  # #include<math.h> and #if(A) need no space
        rest = text[len(word) :].strip()
        place = Place(line, 0)
        if word in ("ifdef", "ifndef", "if"):
            if not all(self.active):
                self.active.append(False)
            elif word == "if":
                self.active.append(self.holds(rest, line))
            else:
                self.active.append((rest in self.defined) == (word == "ifdef"))
            self.was_active.append(self.active[-1])
        elif word in ("else", "elif", "endif"):
            if not self.active:
                raise self.source.error(place, f"#{word} without #if", "leave it out")
            self.active.pop()
            before = self.was_active.pop()
            if word == "endif":
                return
            is_open = not before and all(self.active)
            self.active.append(is_open and (word == "else" or self.holds(rest, line)))
            self.was_active.append(before or self.active[-1])
        elif not all(self.active) or word in ("include", "pragma", "line", ""):
            return
        elif word == "undef":
            self.defined.pop(rest, None)
        elif word == "define":
            self.define(rest, line)
        elif word == "error":
            raise self.source.error(place, f"#error {rest}", "define what the text asks for")
        else:
            raise self.source.error(place, f"#{word} is not known", "leave it out")

    def define(self, text, line):
        m = re.match(r"([A-Za-z_]\w*)(\(([^)]*)\))?\s*(.*)", text)
        if not m:
            raise self.source.error(
                Place(line, 0), "#define needs a name", "write #define NAME value"
            )
        parameters = None if m[2] is None else [p.strip() for p in m[3].split(",") if p.strip()]
        self.defined[m[1]] = (parameters, list(_line_tokens(m[4], line, 0, self.source)))

    def holds(self, text, line):
        text = re.sub(
            r"\bdefined\s*\(?\s*(\w+)\s*\)?", lambda m: str(int(m[1] in self.defined)), text
        )
        made = self.expanded(list(_line_tokens(text, line, 0, self.source)), frozenset())
        words = {"&&": " and ", "||": " or ", "!": " not "}
        code = " ".join(
            words.get(t.text, "0" if t.kind == "name" else t.text.rstrip("uUlL")) for t in made
        )
        try:
            return bool(eval(code, {"__builtins__": {}}))
        except Exception:
            raise self.source.error(
                Place(line, 0), f"#if {text} cannot be computed", "use numbers and defined()"
            ) from None

    def expanded(self, given, busy):
        out, k = [], 0
        while k < len(given):
            t = given[k]
            k += 1
            if t.kind != "name" or t.text not in self.defined or t.text in busy:
                out.append(t)
                continue
            parameters, body = self.defined[t.text]
            if parameters is not None:
                if k >= len(given) or given[k].text != "(":
                    out.append(t)
                    continue
                args, k = self.arguments(given, k, t)
                if len(args) != max(len(parameters), 0) and not (not parameters and args == [[]]):
                    raise self.source.error(
                        Place(t.line, t.column),
                        f"the macro {t.text} takes {len(parameters)} arguments; got {len(args)}",
                        "give as many",
                    )
                values = dict(zip(parameters, args, strict=False))
                body = [x for b in body for x in (values[b.text] if b.text in values else [b])]
            here = [b._replace(line=t.line, column=t.column) for b in body]
            out += self.expanded(here, busy | {t.text})
        return out

    def arguments(self, given, k, t):
        args, depth = [[]], 0
        while k < len(given):
            word = given[k].text
            k += 1
            if word == "(":
                depth += 1
                if depth == 1:
                    continue
            elif word == ")":
                depth -= 1
                if depth == 0:
                    return args, k
            elif word == "," and depth == 1:
                args.append([])
                continue
            args[-1].append(given[k - 1])
        raise self.source.error(
            Place(t.line, t.column), f"the arguments of the macro {t.text} do not end", "add )"
        )


def number(t):
    """(value, name of its C type) of a token that is a number or a character."""
    text = t.text
    if t.kind == "char":
        return (ord(text[1]) if text[1] != "\\" else _escapes.get(text[2], ord(text[2]))), "int8"
    is_coded = text[:2] in ("0x", "0X", "0b", "0B")
    if not is_coded and re.search(r"[.eE]", text):
        is_single = text[-1] in "fF"
        return float(text.rstrip("fFlL")), "float32" if is_single else "float64"
    if not is_coded and text[-1] in "fF":
        return float(text[:-1]), "float32"
    suffix = re.search(r"[uUlL]*$", text).group().lower()
    digits = text[: len(text) - len(suffix)]
    is_octal = len(digits) > 1 and digits[0] == "0" and not is_coded
    value = int(digits, 0) if is_coded else int(digits, 8 if is_octal else 10)
    sizes = ["int32", "uint32", "int64", "uint64"]
    if "u" in suffix:
        sizes = ["uint32", "uint64"]
    elif not (is_coded or is_octal):
        sizes = ["int32", "int64", "uint64"]
    if "l" in suffix:
        sizes = [s for s in sizes if s.endswith("64")]
    limits = {"int32": 2**31, "uint32": 2**32, "int64": 2**63, "uint64": 2**64}
    return value, next((s for s in sizes if value < limits[s]), "uint64")
