"""``c_module``: functions of C text, compiled in memory, for Python and for compiled functions."""

from __future__ import annotations

import os

from .. import _engine


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
    libraries : sequence of str
        Paths of shared libraries whose functions the text calls, or `cdef` declares (with an empty `source`).

    Returns
    -------
    CModule
        Has the functions, and the constants of enumerations, as attributes.

    Raises
    ------
    CompileError
        With clang's messages and the lines of the text.

    Notes
    -----
    Pointers take contiguous arrays of the declared element type (of bytes for ``void*`` and structs), NumPy's or
    ours; numbers are checked against the declared type. Functions are inlined into compiled functions and elementwise
    kernels that call them. ``double`` and integers come back as Python's numbers. The standard headers are declared
    by this library; arithmetic is never contracted or reordered, and signed integers wrap.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> c = un.c_module("double scaled(const double* x, int n) { return n * x[0]; }")
    >>> c.scaled(np.array([2.5]), 4)
    10.0
    """
    texts = [_text(s) for s in (source if isinstance(source, (list, tuple)) else [source])]
    name = texts[0][1] if texts else "<c_module>"
    text = "\n".join(f'#line 1 "{n}"\n{t}' if len(texts) > 1 else t for t, n in texts)
    for path in libraries:
        _engine._open_library(os.fspath(path))
    functions, constants, changing = _engine._c_text(
        text, name, cdef or "", [os.fspath(d) for d in include_dirs], list(define)
    )
    if changing:
        raise _engine.CompileError(
            f"c_module: global and static variables that change are not supported yet; got {changing}; "
            f"make them const, or pass the state as a pointer"
        )
    if not functions and not constants:
        raise _engine.CompileError(
            f"c_module: the text defines no function; got {name}; define one that is not static, or declare it in cdef"
        )
    return CModule(name, functions, constants)


def _text(source):
    """(text, name of its file)"""
    is_path = isinstance(source, os.PathLike) or (
        isinstance(source, str)
        and "\n" not in source
        and "{" not in source
        and source.endswith((".c", ".h"))
    )
    if is_path:
        with open(source) as f:
            return f.read(), os.fspath(source)
    if not isinstance(source, str):
        raise TypeError(
            f"c_module: takes C text or a path; got {type(source).__name__}; pass a str"
        )
    return source, "<c_module>"


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
        self.__name__ = self.__qualname__ = name
        self.declaration = declaration
        self.parameters = tuple(parameters)
        self.__doc__ = declaration

    @property
    def py_func(self):
        """The function itself: there is no Python function behind it."""
        return self

    def __repr__(self):
        return f"<C function {self.declaration}>"


class CModule:
    """The functions and constants of C text, as attributes; made by :func:`c_module`."""

    _holds_compiled_functions = True  # for compiled functions, which name them as attributes

    def __init__(self, name, functions, constants):
        self.__name__ = name
        self._refused = {}
        for symbol, declaration, parameters, native in functions:
            if isinstance(native, str):
                self._refused[symbol] = (declaration, native)
            else:
                setattr(self, symbol, CFunctionOfText(symbol, declaration, parameters, native))
        for symbol, value in constants.items():
            setattr(self, symbol, value)

    def __getattr__(self, name):
        if name.startswith("__") or name not in self.__dict__.get("_refused", {}):
            have = ", ".join(n for n in self.__dict__ if not n.startswith("_"))
            raise AttributeError(
                f"C module {self.__dict__.get('__name__')} has no '{name}'; it has {have}"
            )
        declaration, why = self._refused[name]
        raise TypeError(f"{name}: cannot be called from Python: {why}; the declaration is {declaration}; "
                        f"write a C function around it that takes numbers and pointers")  # fmt: skip

    def __repr__(self):
        return f"<C module {self.__name__}>"
