"""``intrinsic``: functions of compiled code that are written as C expressions."""

from __future__ import annotations

import inspect
import textwrap

from .._dtype import spelling
from .c_forms import c_names
from .c_module import c_module

_TYPES, _ADVICE = "C needs to know the types", 'write @un.intrinsic("int32(uint64)")'


class UntypedIntrinsic:
    """What Numba's form of the decorator makes, whose functions emit LLVM's IR: refused where it is called.

    Modules that define one and seldom or never call it can so be imported.
    """

    def __init__(self, function):
        self.function = function

    def __repr__(self):
        return f"<intrinsic {self.function.__name__} without types>"

    def __call__(self, *args):
        """Say what to write."""
        raise TypeError(f"{self.function.__name__}: {_TYPES} of an intrinsic; got none; {_ADVICE}")


def intrinsic(signature, *, headers=("math.h", "stdint.h", "string.h")):
    """Make a function for compiled code of the C text that the decorated function gives.

    Parameters
    ----------
    signature : str
        Result and arguments: ``"int32(uint64)"``; pointers, which take arrays, as ``"float64*"``.
    headers : sequence of str
        Standard headers that the text needs.

    Returns
    -------
    decorator
        Takes a function that is called once, with the names of its parameters, and returns a C expression of them,
        or the statements of a body. It gives a function that Python and compiled functions call; in these it is
        inlined.

    Raises
    ------
    CompileError
        With clang's messages, where the text does not compile.
    TypeError
        If the signature is not a string (where there is none, when the function is called) or has other types than numbers and pointers, or the function gives no text.

    Notes
    -----
    Clang's builtins stand for instructions of the machine: ``__builtin_popcountll``, ``__builtin_fma``,
    ``__builtin_prefetch``. To replace a function of a module see `overload`.

    Examples
    --------
    >>> import unisono as un
    >>> @un.intrinsic("int32(uint64)")
    ... def bits_set(x):
    ...     return f"__builtin_popcountll({x})"
    >>> @un.jit
    ... def twice(x):
    ...     return 2 * bits_set(x)
    >>> twice(255)
    16
    """
    if inspect.isfunction(signature):
        return UntypedIntrinsic(signature)
    if not isinstance(signature, str):
        raise TypeError(f"intrinsic: {_TYPES}; got {signature!r}; {_ADVICE}")
    result, arguments = spelling.parse_signature(signature, "intrinsic")
    result = "void" if result is None else _c_type(result)
    types = [_c_type(t) for t in arguments]

    def make(function):
        names = list(inspect.signature(function).parameters)
        if len(names) != len(types):
            raise TypeError(
                f"intrinsic: {function.__name__} has {len(names)} parameters; got {len(types)} types in {signature!r}; "
                f"give one for each"
            )
        text = function(*names)
        if not isinstance(text, str):
            raise TypeError(
                f"intrinsic: {function.__name__} gives C text; got {type(text).__name__}; return a str"
            )
        text = textwrap.dedent(text).strip()
        if not text.endswith((";", "}")):
            text = f"{'' if result == 'void' else 'return '}{text};"
        symbol = f"intrinsic_{function.__name__.strip('<>')}"
        heads = ", ".join(f"{t} {n}" for t, n in zip(types, names, strict=True)) or "void"
        included = "".join(f"#include <{h}>\n" for h in headers)
        made = getattr(
            c_module(
                f"{included}{result} {symbol}({heads}) {{\n{text}\n}}\n",
                f"{result} {symbol}({heads});",
            ),
            symbol,
        )
        made.__name__, made.__qualname__ = function.__name__, function.__qualname__
        made.__doc__ = function.__doc__ or made.declaration
        return made

    return make


def _c_type(t):
    if t[0] == "void":
        return "void"
    base = "unsigned char" if t[0] == "pointer" and t[1] is None else c_names.get(t[1])
    if t[0] not in ("scalar", "pointer") or base is None:
        raise TypeError(
            f"intrinsic: C functions take numbers and pointers; got {spelling.spell(t)}; pass arrays as float64*"
        )
    return f"{base}*" if t[0] == "pointer" else base
