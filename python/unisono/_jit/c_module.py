"""``c_module``: functions of C text, compiled in memory, for Python and for compiled functions."""

from __future__ import annotations

import ctypes
import os

from .. import _engine
from . import c_forms
from .c_constants import constant_values, macro_constants
from .c_declarations import only_new
from .c_types import CFunctionOfStructs, _prefix, names_in_wrapper, struct_dtypes, wrapper
from .c_variadic import CVariadic, getter
from .c_variadic import prefix as variadic_prefix


def c_module(source, cdef=None, *, include_dirs=(), define=(), libraries=()):
    """Compile C11 text in memory; no compiler and no system headers are needed.

    Parameters
    ----------
    source : str, path or list of them
        C text, or the path of a ``.c`` file, whose own headers are found beside it.
    cdef : str, optional
        Declarations of the functions to give away, as in CFFI's ``cdef``; those of the C library may be among them.
        By default all that the text defines (not ``static``).
    include_dirs : sequence of str
        Folders of headers.
    define : sequence of str
        Macros, as ``"NAME=value"``.
    libraries : sequence of str, path or ctypes.CDLL
        Shared libraries whose functions the text calls, or `cdef` declares (with an empty `source`).

    Returns
    -------
    CModule
        Has the functions, the variables that are not ``static``, the constants of enumerations and of ``#define``,
        and the dtypes of structs as attributes.
        Variables keep their values from call to call.

    Raises
    ------
    CompileError
        If the text does not compile; the message has clang's diagnostics and the lines.

    Notes
    -----
    Pointers take contiguous arrays of the declared element type (any, for ``void*``), NumPy's or ours; those to
    arrays (``double a[n][n]``) arrays of their elements, ``const char*`` also str and bytes; pointers
    to structs also arrays of the struct's dtype, None and addresses. A struct is passed as an element of such an array,
    a tuple or a dataclass, and comes back as an element. A pointer to a function takes what `cfunc` or `jit` made;
    ``const char*`` comes back as str (None where it is null), other pointers as addresses. Numbers are checked against the declared type. Functions are inlined into compiled
    functions and elementwise kernels that call them. ``double`` and integers come back as Python's numbers. The standard headers are declared
    by this library; arithmetic is never contracted or reordered, and signed integers wrap.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> c = un.c_module("double scaled(const double* x, int n) { return n * x[0]; }")
    >>> c.scaled(np.array([2.5]), 4)
    10.0
    """
    return compiled(source, cdef, include_dirs, define, libraries)


def compiled(source, cdef, include_dirs=(), define=(), libraries=(), any_order=False):
    """As `c_module`; with `any_order` arrays may lie in Fortran's order, too."""
    sources = source if isinstance(source, (list, tuple)) else [source]
    texts = [text_of(s, "c_module", "C", (".c", ".h")) for s in sources]
    name = texts[0][1] if texts else "<c_module>"
    text = "\n".join(f'#line 1 "{n}"\n{t}' if len(texts) > 1 else t for t, n in texts)
    paths = [os.fspath(p._name if isinstance(p, ctypes.CDLL) else p) for p in libraries]
    for path in paths:
        _engine._open_library(path)
    folders, macros = [os.fspath(d) for d in include_dirs], list(define)
    if cdef and "{" in cdef or cdef and "..." in cdef:
        without = _engine._c_text(text, name, "", folders, macros)
        cdef = only_new(cdef, {row[0] for row in without[4]}, set(without[1]))
    made = _engine._c_text(text, name, cdef or "", folders, macros)
    around, forms = _wrappers(made)
    if around:  # once more, with C around what takes structs and functions
        made = _engine._c_text(
            text if cdef else f'{text}\n#line 1 "unisono"\n{around}',
            name,
            f"{cdef}\n{around}" if cdef else "",
            folders,
            macros,
        )
    functions, constants, variables, refused, structs, defined, memory, fixed = made
    if refused:
        raise _engine.CompileError(
            f"c_module: variables that are thread-local cannot be had; got {refused}; "
            f"set them in a function that is called first"
        )
    if not functions and not constants and not variables:
        raise _engine.CompileError(
            f"c_module: the text defines no function; got {name}; define one that is not static, or declare it in cdef"
        )
    dtypes = struct_dtypes(structs) if structs else {}
    constants |= constant_values(fixed, dtypes) if fixed else {}
    constants = {**macro_constants(defined, constants), **constants}
    needs = (memory, paths)
    return CModule(name, functions, constants, variables, dtypes, needs, forms, any_order)


def _wrappers(made):
    """C text around what takes structs and functions: for Python, and for compiled functions with their forms."""
    structs = {
        name: (size, fields if is_plain else None) for name, size, fields, is_plain in made[4]
    }
    texts, forms = [], {}
    for name, _, parameters, native, types in made[0]:
        if _is_variadic(native):
            texts.append(getter(name))
            continue
        text = wrapper(name, types)
        if text:
            flat, forms[name] = c_forms.flat(name, parameters, types, structs)
            texts += [text, flat or ""]
    return "".join(texts), forms


def _is_variadic(native):
    return isinstance(native, str) and native.startswith("it takes any number")


def text_of(source, function, language, endings):
    """(text, name of its file) of a text or a path."""
    is_path = isinstance(source, os.PathLike) or (
        isinstance(source, str)
        and "\n" not in source
        and "{" not in source
        and source.endswith(endings)
    )
    if is_path:
        with open(source) as f:
            return f.read(), os.fspath(source)
    if not isinstance(source, str):
        raise TypeError(
            f"{function}: takes {language} text or a path; got {type(source).__name__}; pass a str"
        )
    return source, f"<{function}>"


class CFunctionOfText(_engine.Dispatcher):
    """A function of C text; called with numbers and arrays.

    Attributes
    ----------
    declaration : str
        As C writes it.
    parameters : tuple of str
        Their names.
    """

    def __init__(self, name, declaration, parameters, native):
        def function():
            raise NotImplementedError

        function.__name__ = name
        super().__init__(function, lambda: native, False, None)
        self._native = native
        self.__name__ = self.__qualname__ = name
        self.declaration = declaration
        self.parameters = tuple(parameters)
        self.__doc__ = declaration

    def bind(self, *args):
        """A call whose first arguments are given now: arrays are checked once.

        Parameters
        ----------
        *args
            The first arguments, or all. Arrays stay alive, at their place.

        Returns
        -------
        callable
            Takes the other arguments.

        Raises
        ------
        TypeError
            There are more arguments than parameters, or one cannot be passed to C.

        Examples
        --------
        >>> import numpy as np, unisono as un
        >>> c = un.c_module("double first(const double* x, int i) { return x[i]; }")
        >>> item = c.first.bind(np.array([2.5, 3.5]))
        >>> item(1)
        3.5
        """
        import unisono as un

        # Over NumPy's arrays: while these live, statements that touch the memory run at once.
        held = tuple(x.__array__() if isinstance(x, un._engine._Array) else x for x in args)
        return _engine._BoundCall(self, held)

    @property
    def py_func(self):
        """The function itself: there is no Python function behind it."""
        return self

    def __repr__(self):
        return f"<C function {self.declaration}>"


_starts = []  # functions that gave variables their addresses: what these point to lies in their code


def started(functions, needs):
    """The other functions, once the one has run that stores what variables begin with."""
    start = next((f for f in functions if f[0] == "unisono_start"), None)
    if start is None:
        return functions, needs
    _starts.append(CFunctionOfText(start[0], "void unisono_start(void)", (), start[3]))
    _starts[-1]()
    return [f for f in functions if f is not start], None


class _TextVariable:
    """A variable of C text that points to text, or an array of these."""

    def __init__(self, name, dtype, extents, address, size):
        self._name, self._extents, self._kept = name, extents, []
        self._pointers = (ctypes.c_void_p * (size // 8)).from_address(address)

    def get(self):
        """A str, None of a null pointer; a tuple of an array."""
        texts = [p and ctypes.string_at(p).decode(errors="surrogateescape") for p in self._pointers]
        for n in reversed(self._extents[1:]):
            texts = [tuple(texts[i : i + n]) for i in range(0, len(texts), n)]
        return tuple(texts) if self._extents else texts[0]

    def set(self, value):
        """Point to a copy of a text, which stays."""
        if self._extents or not isinstance(value, (str, bytes, type(None))):
            raise TypeError(
                f"{self._name}: the C variable points to text; got {value!r}; assign a str, bytes or None"
            )
        if value is None:
            self._pointers[0] = None
            return
        encoded = value.encode(errors="surrogateescape") if isinstance(value, str) else value
        self._kept.append(ctypes.create_string_buffer(encoded))
        self._pointers[0] = ctypes.addressof(self._kept[-1])


class _Variable:
    """A variable of C text: its memory, which lasts as long as the process."""

    def __init__(self, name, dtype, extents, address, size):
        self._name, self._dtype, self._extents = name, dtype, extents
        self._memory = (ctypes.c_char * size).from_address(address)

    def get(self):
        """A number, or an array that sees the memory (bytes, of a struct or a pointer)."""
        import numpy as np

        whole = np.frombuffer(self._memory, self._dtype or np.uint8)
        if self._dtype is None:
            return whole
        return whole.reshape(self._extents) if self._extents else whole[0].item()

    def set(self, value):
        """Store a number, or the elements of an array."""
        import numpy as np

        into = np.frombuffer(self._memory, self._dtype or np.uint8)
        if self._dtype is None or self._extents:
            into = into.reshape(self._extents) if self._dtype else into
            into[...] = value
            return
        made = np.asarray(value)
        if (
            made.ndim
            or not np.can_cast(made.dtype, into.dtype, "same_kind")
            and made.dtype.kind not in "iub"
        ):
            raise TypeError(
                f"{self._name}: the C variable is {self._dtype}; got {value!r}; assign a number of that kind"
            )
        if made.dtype.kind in "iub" and into.dtype.kind in "iu":
            bounds = np.iinfo(into.dtype)
            if not bounds.min <= int(value) <= bounds.max:
                raise OverflowError(
                    f"{self._name}: {value} does not fit in C's variable of {self._dtype}; got {value}; assign a smaller number"
                )
        into[0] = value


class CModule:
    """The functions, constants and variables of C text, as attributes; made by :func:`c_module`.

    A number can be read and assigned, and text that a variable points to; an array is NumPy's, over the variable's own
    memory. What is ``const`` can be read.
    """

    _holds_compiled_functions = True  # for compiled functions, which name them as attributes

    def __init__(
        self,
        name,
        functions,
        constants,
        variables=(),
        structs=None,
        needs=((), ()),
        forms=(),
        any_order=False,
    ):
        self.__name__ = name
        self._refused, made = {}, {}
        self._variables = {
            row[0]: (_TextVariable if row[1] == "text" else _Variable)(*row) for row in variables
        }
        self._structs = structs or {}
        functions, needs = started(functions, needs)
        for symbol, declaration, parameters, native, _ in functions:
            if isinstance(native, str):
                self._refused[symbol] = (declaration, native)
            else:
                if any_order:
                    plain = repr(((), None, False, True))
                    native = _engine._native_with_forms(
                        native, symbol, declaration, list(parameters), plain
                    )
                made[symbol] = CFunctionOfText(symbol, declaration, parameters, native)
                made[symbol]._needs = needs
        for symbol, declaration, parameters, _, types in functions:
            address = made.pop(variadic_prefix + symbol, None)
            if address is not None:
                self._refused.pop(symbol)
                made[symbol] = CVariadic(symbol, declaration, parameters, types, address, needs)
            around = made.pop(_prefix + symbol, None)
            flat = made.pop(c_forms.prefix + symbol, None)
            if around is not None:
                self._refused.pop(symbol, None)
                text = forms[symbol][:-1] + ", True)" if any_order else forms[symbol]
                native = _engine._native_with_forms(
                    (flat or around)._native, symbol, declaration, list(parameters), text
                )
                flat = CFunctionOfText(symbol, declaration, parameters, native)
                flat._needs = needs
                names = names_in_wrapper(parameters, types)
                native = _engine._native_with_forms(
                    around._native, symbol, declaration, names, repr(((), None, False))
                )
                around = CFunctionOfText(symbol, declaration, names, native)
                made[symbol] = CFunctionOfStructs(
                    symbol, declaration, parameters, types, around, flat, self._structs
                )
        for symbol, dtype in self._structs.items():
            if "." not in symbol:  # of a field, without a name of its own
                object.__setattr__(self, symbol, dtype)
        for symbol, function in made.items():
            setattr(self, symbol, function)
        for symbol, value in constants.items():
            setattr(self, symbol, value)
        self._constants = set(constants)

    def __setattr__(self, name, value):
        variable = self.__dict__.get("_variables", {}).get(name)
        if name in self.__dict__.get("_constants", ()):
            raise AttributeError(
                f"C module {self.__name__}: '{name}' is a constant of the text; got {value!r}; "
                f"declare it without const"
            )
        if variable is None:
            object.__setattr__(self, name, value)
        else:
            variable.set(value)

    def __getattr__(self, name):
        variable = self.__dict__.get("_variables", {}).get(name)
        if variable is not None:
            return variable.get()
        if name.startswith("__") or name not in self.__dict__.get("_refused", {}):
            have = ", ".join(
                [
                    *(n for n in self.__dict__ if not n.startswith("_")),
                    *self.__dict__.get("_variables", ()),
                ]
            )
            raise AttributeError(
                f"C module {self.__dict__.get('__name__')} has no '{name}'; it has {have}"
            )
        declaration, why = self._refused[name]
        raise TypeError(f"{name}: cannot be called from Python: {why}; the declaration is {declaration}; "
                        f"write a C function around it that takes numbers and pointers")  # fmt: skip

    def __repr__(self):
        return f"<C module {self.__name__}>"
