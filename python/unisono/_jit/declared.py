"""Functions of C that compiled code calls by a declared name; the C text is linked beside it (``link=``)."""

from __future__ import annotations

import os

from .. import _engine
from .._dtype.spelling import parse_signature, spell
from . import linked_objects
from .text import compile_text


def declare_device(name, sig, *, link=()):
    """Declare a function of C that compiled functions call.

    Parameters
    ----------
    name : str
        As the C text defines it.
    sig : str
        Result and arguments, as ``"int32(int32, int32)"``; arrays pass as pointers to their elements. Structs and vectors of
        CUDA C and OpenCL C text pass by value, as tuples of their numbers or as ``Record(...)``; results are tuples.
    link : str, path, CModule or list of them
        What defines the function: text of C, CUDA C or OpenCL C, the path of a ``.c``, ``.cu`` or ``.cl`` file, of an object
        file, archive or shared library (``.o``, ``.a``, ``.so``, for code that runs on the host), or what `c_module` made. By default the compiled function that calls it says so: ``un.jit(link=[...])``.

    Returns
    -------
    DeclaredFunction
        To be called in compiled functions; where `link` is given, from Python too.

    Raises
    ------
    TypeError
        `sig` is no signature with a result.
    CompileError
        When the caller is compiled: nothing that is linked defines the function, or it takes other parameters.
    RuntimeError
        When it is called: the function returned a status other than 0.

    Notes
    -----
    The function is written in one of two ways, told apart by its parameters. Plainly, ``int bar(int a, int b)``. Or as
    Numba's device functions: the result goes through a pointer in front of the arguments and the function returns a
    status, ``int bar(int *result, int a, int b)``; other than 0 raises.

    Examples
    --------
    >>> import unisono as un
    >>> bar = un.declare_device("bar", "int32(int32, int32)")
    >>> @un.jit(link=["int bar(int *result, int a, int b) { *result = a * b; return 0; }"])
    ... def total(n):
    ...     s = 0
    ...     for i in range(n):
    ...         s += bar(i, 2)
    ...     return s
    >>> total(5)
    20
    """
    result, arguments = parse_signature(sig, "declare_device")
    if result is None or result[0] not in ("scalar", "void", "tuple"):
        raise TypeError(
            f"declare_device: '{name}' returns a number, a tuple of numbers or nothing; got the signature {sig!r}; write a result in "
            f'front, as in "int32(int32, int32)"'
        )
    return DeclaredFunction(name, sig, result, arguments, modules_of(link))


def modules_of(link):
    """What `link=` names, in order: texts and paths, or modules that are made already."""
    if isinstance(link, (str, os.PathLike)) or hasattr(link, "_holds_compiled_functions"):
        return (link,)
    if link and not isinstance(link, (tuple, list)):
        raise TypeError(
            f"link: what is linked is a text, a path, a module of C or a list of them; got {type(link).__name__}; give one"
        )
    return tuple(link or ())


_texts = {}  # modules of C by what was linked: compiled once
given = []  # what the decorators were told: where functions called from Python are looked for


def _module_of(source):
    if hasattr(source, "_holds_compiled_functions"):
        return source
    from .._raw.linked import LinkedText, is_of_devices
    from .c_module import c_module

    source = os.fspath(source)
    made = LinkedText if is_of_devices(source) else c_module
    if linked_objects.is_object(source):
        made = linked_objects.LinkedObject
    made_at = os.stat(source).st_mtime_ns if os.path.exists(source) else None
    if (source, made_at) not in _texts:
        _texts[source, made_at] = made(source)
    return _texts[source, made_at]


def _function_of(module, declared):
    name = declared.__name__
    if hasattr(module, "_holds_compiled_functions"):
        return getattr(module, name, None)
    if isinstance(module, linked_objects.LinkedObject):
        return module.declared(name, declared._result, declared._arguments)
    return module.function(name)


class DeclaredFunction:
    """A function that C text defines, by name; made by `declare_device`."""

    def __init__(self, name, sig, result, arguments, link):
        self.__name__ = self.__qualname__ = name
        self.signature = sig
        self.link = link
        self._result, self._arguments = result, arguments
        self._linked = {}

    def __repr__(self):
        return f"<declared function {self.__name__}: {self.signature}>"

    def __call__(self, *args):
        return self.linked(given)(*args)

    def linked(self, link):
        """The compiled function that calls what `link`, or the own one, defines."""
        found = None
        for source in (*self.link, *link):
            found = found or _function_of(_module_of(source), self)
        if found is None:
            raise _engine.CompileError(
                f"declare_device: nothing that is linked defines '{self.__name__}'; got link={[*self.link, *link]!r}; "
                f"give its C text or file, as in un.jit(link=['{self.__name__}.c'])"
            )
        if found not in self._linked:
            self._linked[found] = self._around(found)
        return self._linked[found]

    def _around(self, function):
        names = [f"x{k}" for k in range(len(self._arguments))]
        types = function.declaration[function.declaration.index("(") + 1 : -1].split(",")
        by_pointer = len(function.parameters) == len(names) + 1 and "*" in types[0]
        if len(function.parameters) != len(names) and not by_pointer:
            raise _engine.CompileError(
                f"declare_device: '{self.__name__}' was declared as {self.signature}; got '{function.declaration}'; "
                f"write its parameters alike, or the result's pointer in front of them"
            )
        # Of CUDA C and OpenCL C text, a pointer is an array and an offset.
        of_devices = hasattr(function, "compiled")
        array = "{}, 0" if of_devices else "{}"
        shift = len(function.parameters) - len(names)
        given = [
            text
            for n, t, p in zip(names, self._arguments, function.parameters[shift:], strict=True)
            for text in self._passed(n, t, p, array)
        ]
        result = spell(self._result)
        lines = [f"def {self.__name__}({', '.join(names)}):"]
        if by_pointer:
            lines += [
                f"    result = np.zeros(1, np.{result})",
                f"    status = function({', '.join([array.format('result'), *given])})",
                "    if status != 0:",
                f'        raise RuntimeError(f"{self.__name__}: returned the status {{status}}")',
                "    return result[0]",
            ]
        elif self._result[0] == "void":
            lines.append(f"    function({', '.join(given)})")
        elif self._result[0] == "tuple":
            wanted = [d for d, _ in self._leaves(getattr(function, "result", None), self._result)]
            if len(wanted) != len(self._result[1]):
                raise TypeError(
                    f"declare_device: '{self.__name__}' returns {len(wanted)} numbers; got a signature whose result "
                    f"has {len(self._result[1])}; give one type for each"
                )
            lines.append(f"    result = function({', '.join(given)})")
            parts = ["result"] if len(wanted) == 1 else [f"result[{k}]" for k in range(len(wanted))]
            parts = [f"np.{d}({x})" for d, x in zip(wanted, parts, strict=True)]
            lines.append(f"    return ({', '.join(parts)},)")
        else:
            lines.append(f"    return np.{result}(function({', '.join(given)}))")
        import numpy as np

        names = {"np": np, "function": getattr(function, "compiled", function)}
        return compile_text("\n".join(lines) + "\n", self.__name__, names)

    def _passed(self, name, t, parameter, array):
        """What is written for an argument of a signature's type."""
        if t[0] == "scalar":
            return [f"np.{t[1]}({name})"]
        if t[0] not in ("tuple", "record") or (t[0] == "record" and t[2]):
            return [array.format(name)]
        leaves = [d for d, _ in self._leaves(parameter, t)]
        if t[0] == "tuple":
            parts = [f"{name}[{k}]" for k in range(len(t[1]))]
        else:
            parts = [f"{name}.{path}" for path in _paths(t[1])]
        if len(parts) != len(leaves):
            raise _engine.CompileError(
                f"declare_device: '{self.__name__}' was declared as {self.signature}; got {len(leaves)} numbers in "
                f"'{parameter}'; write its members alike"
            )
        return [f"np.{d}({x})" for d, x in zip(leaves, parts, strict=True)]

    def _leaves(self, parameter, t):
        """The numbers of a struct of the text."""
        record = getattr(parameter, "record", None)
        if record is None:
            raise _engine.CompileError(
                f"declare_device: '{self.__name__}' was declared as {self.signature}; got '{parameter}' for {spell(t)}; "
                f"write a struct of CUDA C or OpenCL C"
            )
        return record.leaves


def _paths(dtype):
    """The fields of a structured dtype that are numbers, in the order of memory, as x.y."""
    rows = sorted((dtype.fields[n][1], n, dtype.fields[n][0]) for n in dtype.names)
    return [
        path for _, n, d in rows for path in ([f"{n}.{p}" for p in _paths(d)] if d.names else [n])
    ]
