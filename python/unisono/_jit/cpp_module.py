"""``cpp_module``: classes and functions of C++, through functions with C's calling convention around them."""

from __future__ import annotations

import ctypes
import os

from .. import _engine
from . import cpp_standard
from .c_constants import constant_values
from .c_forms import c_names
from .c_module import CFunctionOfText, started, text_of
from .cpp_classes import Overloads, make_class

_endings = (".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx")


def cpp_module(source, *, include_dirs=(), define=(), libraries=()):
    """Make the classes and functions of C++ text, or of a library's header, callable.

    Parameters
    ----------
    source : str or path
        C++17 text, or the path of a header or source file, whose own headers are found beside it.
    include_dirs : sequence of str
        Folders of headers.
    define : sequence of str
        Macros, as ``"NAME=value"``.
    libraries : sequence of str, path or ctypes.CDLL
        Shared libraries that define what the text only declares.

    Returns
    -------
    CppModule
        Has the classes and functions that the text and its own headers declare, whatever their namespace, and the
        constants of enumerations, as attributes.

    Raises
    ------
    CompileError
        If the text does not compile; the message has clang's diagnostics and the lines.

    Notes
    -----
    Calling a class constructs an object, which is deleted with the Python object. Overloads are chosen by the
    arguments. Numbers, arrays for pointers to numbers (and for references that are written, of one element), str for
    ``const char*`` and ``std::string``, arrays and lists for ``std::vector`` of numbers (a copy; lists of str for one of
    strings), complex numbers for ``std::complex``, functions made by `cfunc` or `jit` for pointers to functions and
    ``std::function``, and objects of the module's classes by value, reference or pointer can be passed, and all but
    functions come back; functions that take anything else are refused, with the declaration, when they are called. Exceptions that the text
    does not catch become Python's: `IndexError` of ``std::out_of_range``, `ValueError` of ``std::invalid_argument``,
    `MemoryError`, `OverflowError`, and `RuntimeError` of all others.

    The headers of C are ours, as in `c_module`, and so are those of C++ that repeat them (``<cmath>``); where the text
    includes others (``<vector>``), all come from the system, where g++ has put them. Compiled functions call the
    functions of `interface`, to which an object is its address: ``m.interface.Counter_next(int(c))``.

    Examples
    --------
    >>> import unisono as un
    >>> m = un.cpp_module('''
    ... class Counter {
    ...     int n;
    ... public:
    ...     explicit Counter(int start) : n(start) {}
    ...     int next() { return ++n; }
    ... };''')
    >>> c = m.Counter(41)
    >>> c.next()
    42
    """
    text, name = text_of(source, "cpp_module", "C++", _endings)
    paths = [os.fspath(p._name if isinstance(p, ctypes.CDLL) else p) for p in libraries]
    for path in paths:
        _engine._open_library(path)
    folders, macros = [os.fspath(d) for d in include_dirs], list(define)
    try:
        found, language = _engine._cpp_text(text, name, folders, macros, False), 1
    except _engine.CompileError as error:
        if "file not found" not in str(error):
            raise
        if not os.path.isdir("/usr/include/c++"):
            raise _engine.CompileError(
                f"{error}\nwhat to do: the headers of C++ are not on this machine; install them (libstdc++-12-dev), "
                f"or pass their folders as include_dirs"
            ) from None
        found, language = _engine._cpp_text(text, name, folders, macros, True), 2
    functions, classes, constants, fixed = found
    constants |= constant_values(fixed, {}) if fixed else {}
    if not functions and not classes and not constants:
        raise _engine.CompileError(
            f"cpp_module: the text declares no class and no function; got {name}; declare one"
        )
    writer = _Writer({row[0] for row in classes})
    writer.functions(functions)
    for row in classes:
        writer.of_class(row)
    compiled = {}
    if writer.texts:
        made = f"{_preamble}{cpp_standard.preamble}{''.join(writer.texts)}"
        wrapped = f'{text}\n#line 1 "unisono"\n{made}'
        rows, _, _, refused, _, _, memory, _ = _engine._c_text(
            wrapped, name, "", folders, macros, language
        )
        if refused:
            raise _engine.CompileError(
                f"cpp_module: the text has {refused}; got {name}; make them inside of a function, as static"
            )
        rows, writer.needs = started(rows, (memory, paths))
        compiled = {row[0]: row for row in rows}
    return CppModule(name, writer, compiled, classes, constants)


_preamble = 'extern "C" void unisono_cpp_guard(void (*)(void*), void*) noexcept;\n'


class Entry:
    """One overload: the function around it, or why there is none."""

    def __init__(self, name, declaration, result, params, symbol, refused, is_static, may_throw):
        self.name, self.declaration, self.result, self.params = name, declaration, result, params
        self.symbol, self.refused, self.is_static = symbol, refused, is_static
        self.may_throw = may_throw
        self.function = None


class _Writer:
    """Writes a function with C's calling convention around each function, constructor, method and field."""

    def __init__(self, classes):
        self.classes, self.texts, self.needs = classes, [], ((), ())
        self.all = []  # entries
        self.by_owner = {}  # (class or "", name): entries

    def functions(self, rows):
        for row in rows:
            self._overloads("", row, lambda given, q=row[1]: f"::{q}({given})")

    def of_class(self, row):
        owner, _, makers, methods, fields, can_delete = row
        for maker in makers:
            made = (
                "new",
                maker[1],
                (owner, "record", owner, False, ""),
                *maker[3:5],
                True,
                maker[6],
            )
            self._overloads(owner, made, lambda given: f"{owner}({given})")
        for method in methods:
            on = f"{owner}::" if method[5] else "self->"
            self._overloads(owner, method, lambda given, c=on + method[0]: f"{c}({given})")
        if can_delete:
            void = ("void", "void", "", False, "")
            self._add(owner, "delete", void, [], False, False, lambda _: "delete self")
        for name, type_ in fields:
            if type_[1] != "number" and not _is_value(type_):
                continue
            self._add(owner, f"get {name}", type_, [], False, False, lambda _, n=name: f"self->{n}")
            if type_[0].startswith("const "):
                continue
            void = ("void", "void", "", False, "")
            self._add(
                owner, f"set {name}", void, [(name, type_)], False, False,
                lambda given, n=name: f"self->{n} = {given}",
            )  # fmt: skip

    def _overloads(self, owner, row, call):
        name, _, result, params, defaults, is_static, may_throw = row
        for left_out in range(defaults + 1):
            given = params[: len(params) - left_out]
            self._add(owner, name, result, given, is_static or not owner, may_throw, call)

    def _add(self, owner, name, result, params, is_static, may_throw, call):
        symbol = f"unisono_cpp_{len(self.all)}"
        title = f"{owner}::{name}" if owner else name
        declaration = f"{result[0]} {title}({', '.join(f'{t[0]} {n}' for n, t in params)})"
        refused = next((why for _, t in params if (why := self._odd(t, "takes"))), None)
        refused = refused or self._odd(result, "returns")
        entry = Entry(title, declaration, result, params, symbol, refused, is_static, may_throw)
        self.all.append(entry)
        self.by_owner.setdefault((owner, name), []).append(entry)
        if not refused:
            self.texts.append(self._wrapper(entry, owner, call))

    def _odd(self, type_, verb):
        spelling, form, record, _, _ = type_
        kind = cpp_standard.kind_of(type_)
        if kind and verb == "takes" and cpp_standard.is_changed(type_):
            return f"it {verb} {spelling}, which it may change"
        if kind and (verb == "takes" or kind[0] != "function"):
            return None
        if form.startswith("record") and record not in self.classes:
            return f"it {verb} {spelling}, a class that this text does not define"
        return f"it {verb} {spelling}" if form == "other" else None

    def _wrapper(self, entry, owner, call):
        fields, given = [], []
        if not entry.is_static:
            fields.append(("unsigned long long", "self_"))
        for k, (_, (spelling, form, record, is_const, dtype)) in enumerate(entry.params):
            own = f"a.p{k}"
            kind = cpp_standard.kind_of((spelling, form))
            if kind:
                fields += cpp_standard.fields_of(kind, f"p{k}")
                given.append(cpp_standard.made_of(kind, f"p{k}"))
            elif form == "number":
                fields.append((_number(dtype), f"p{k}"))
                given.append(f"({spelling}) {own}")
            elif form == "number&" and is_const:
                fields.append((_number(dtype), f"p{k}"))
                given.append(own)
            elif form in ("number*", "number&"):
                fields.append((spelling.replace("&", "*"), f"p{k}"))
                given.append(own if form == "number*" else f"*{own}")
            elif form == "memory":
                fields.append(("unsigned long long", f"p{k}"))
                given.append(f"({spelling}) {own}")
            else:
                fields.append(("unsigned long long", f"p{k}"))
                object_ = f"reinterpret_cast<{record}*>({own})"
                given.append(object_ if form == "record*" else f"*{object_}")
        done, gives = self._result(entry.result, call(", ".join(given)))
        head = ", ".join(f"{t} {n}" for t, n in fields)
        members = "".join(f"{t} {n}; " for t, n in fields)
        values = ", ".join(n for _, n in fields)
        if gives != "void":
            members += f"{gives} result_;"
            values += ", {}" if values else "{}"
        self_ = "" if entry.is_static else f"auto* self = reinterpret_cast<{owner}*>(a.self_); "
        if entry.may_throw:
            body = f"unisono_cpp_guard([](void* v) {{ auto& a = *static_cast<unisono_values*>(v); (void) a; {self_}{done} }}, &a);"
        else:
            body = f"{self_}{done}"
        back = "" if gives == "void" else " return a.result_;"
        return (
            f'extern "C" {gives} {entry.symbol}({head}) noexcept {{ struct unisono_values {{ {members} }} a{{{values}}}; '
            f"(void) a; {body}{back} }}\n"
        )

    @staticmethod
    def _result(type_, call):
        """(statements that keep the result, its type in C)"""
        spelling, form, record, _, dtype = type_
        if form == "void":
            return f"{call};", "void"
        kind = cpp_standard.kind_of(type_)
        if kind:
            return f"a.result_ = {cpp_standard.kept(kind, call)};", "unsigned long long"
        if form == "number":
            return f"a.result_ = ({_number(dtype)}) {call};", _number(dtype)
        if form == "number&":
            return f"a.result_ = {call};", _number(dtype)
        if form == "record":
            call = f"new {call if call.startswith(record + '(') else f'{record}({call})'}"
        elif form == "record&":
            call = f"&({call})"
        return f"a.result_ = (unsigned long long) ({call});", "unsigned long long"


def _is_value(type_):
    """Whether a field of that type can be read and assigned as a whole."""
    kind = cpp_standard.kind_of(type_)
    return kind is not None and kind[0] != "function" and not type_[0].endswith("&")


def _number(dtype):
    return "bool" if dtype == "bool" else c_names[dtype]


class _Interface:
    """The functions with C's calling convention, for compiled functions."""

    _holds_compiled_functions = True

    def __repr__(self):
        return f"<C interface of {', '.join(self.__dict__)}>"


class CppModule:
    """The classes, functions and constants of C++ text, as attributes; made by :func:`cpp_module`.

    Attributes
    ----------
    interface
        Functions with C's calling convention around them, for compiled functions.
    """

    _holds_compiled_functions = True

    def __init__(self, name, writer, compiled, classes, constants):
        self.__name__ = name
        self.interface = _Interface()
        for entry in writer.all:
            if entry.symbol in compiled:
                self._compile(entry, compiled[entry.symbol], writer.needs)
        known = {}
        for row in classes:
            known[row[0]] = make_class(row, writer.by_owner, known)
            setattr(self, known[row[0]].__name__, known[row[0]])
        for (owner, symbol), entries in writer.by_owner.items():
            if not owner:
                setattr(self, symbol, Overloads(symbol, entries, known))
            self._add_interface(owner, symbol, entries)
        for symbol, value in constants.items():
            setattr(self, symbol, value)

    def _compile(self, entry, row, needs):
        _, _, parameters, native, _ = row
        names = [] if entry.is_static else ["self"]
        for name, type_ in entry.params:
            kind = cpp_standard.kind_of(type_)
            names += [f[1] for f in cpp_standard.fields_of(kind, name)] if kind else [name]
        assert len(names) == len(parameters)
        native = _engine._native_with_forms(
            native, entry.name, entry.declaration, names, repr(((), None, entry.may_throw))
        )
        entry.function = CFunctionOfText(entry.name, entry.declaration, names, native)
        entry.function._needs = needs

    def _add_interface(self, owner, symbol, entries):
        last = owner.rsplit("::", 1)[-1]
        name = "_".join(p for p in (last, symbol.replace(" ", "_")) if p)
        plain = (e for e in entries if e.function and not cpp_standard.kind_of(e.result))
        for k, entry in enumerate(plain):
            full = name if k == 0 else f"{name}_{k + 1}"
            if full.isidentifier():
                setattr(self.interface, full, entry.function)

    def __repr__(self):
        return f"<C++ module {self.__name__}>"
