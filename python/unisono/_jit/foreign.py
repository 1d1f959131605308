"""Functions of ctypes and cffi objects in compiled code: C text around their addresses."""

from __future__ import annotations

import re
import struct

from .. import _engine
from .._loaded import loaded

_made = {}  # by address and declaration: functions, which stay
_letters = {"d": "double", "f": "float", "?": "_Bool", "b": "signed char", "B": "unsigned char", "c": "char",
            "h": "short", "H": "unsigned short", "i": "int", "I": "unsigned int", "l": "long",
            "L": "unsigned long", "q": "long long", "Q": "unsigned long long"}  # fmt: skip


def is_library(owner):
    """Whether attributes of the object are functions of a library: of ctypes, or of cffi."""
    ctypes, kind = loaded("ctypes"), type(owner)
    if ctypes is not None and isinstance(owner, ctypes.CDLL):
        return True
    is_cffi = kind.__module__ == "_cffi_backend" and kind.__name__ == "Lib"
    return is_cffi or (kind.__module__ == "cffi.api" and kind.__name__.startswith("FFILibrary"))


def why_not(value):
    """What keeps compiled code from calling a function of ctypes or cffi; None of other objects."""
    try:
        described(value)
    except ValueError as error:
        return str(error)
    return None


def function_of(value):
    """The function of C text for one of ctypes or cffi; None of anything else."""
    try:
        found = described(value)
    except ValueError:
        return None
    if found is None:
        return None
    if found not in _made:
        _made[found] = _around(*found)
    return _made[found]


def described(value):
    """(address, name, result, parameters) as C writes the types; None of an object of another kind."""
    ctypes, cffi = loaded("ctypes"), loaded("_cffi_backend")
    if ctypes is not None and isinstance(value, ctypes._CFuncPtr):
        return _of_ctypes(ctypes, value)
    types = loaded("unisono.types")
    if types is not None and isinstance(value, types.WrapperAddressProtocol):
        return _of_address(value)
    is_cffi = cffi is not None and (
        isinstance(value, cffi.FFI.CData)
        or type(getattr(value, "__self__", None)).__module__ == "_cffi_backend"
    )
    return _of_cffi(cffi, value) if is_cffi else None


def _of_ctypes(ctypes, value):
    name = getattr(value, "__name__", "function")
    if value.argtypes is None:
        raise ValueError(f"a ctypes function without types: set {name}.argtypes and {name}.restype")
    params = tuple(_ctypes_name(ctypes, t) for t in value.argtypes)
    result = "void" if value.restype is None else _ctypes_name(ctypes, value.restype)
    return ctypes.cast(value, ctypes.c_void_p).value, name, result, params


def _of_address(value):
    from .c_forms import c_names
    from .signatures import spec_of

    def name_in_c(t):
        kind, *rest = spec_of(t, "signature")
        if kind == "none":
            return "void"
        if kind != "scalar" or rest[0] not in c_names:
            raise ValueError(f"a function at an address whose type {t} is not a number")
        return c_names[rest[0]]

    types = value.signature()
    name = re.sub(r"\W", "_", type(value).__name__)
    return (
        int(value.__wrapper_address__()),
        name,
        name_in_c(types.return_type),
        tuple(map(name_in_c, types.args)),
    )


def _ctypes_name(ctypes, t):
    letter = getattr(t, "_type_", None)
    if t is ctypes.c_char_p:
        return "const char*"
    if t is ctypes.c_void_p:
        return "void*"
    if isinstance(letter, str) and letter in _letters and issubclass(t, ctypes._SimpleCData):
        return _letters[letter]
    if isinstance(letter, type) and issubclass(t, ctypes._Pointer):
        inner = getattr(letter, "_type_", None)
        return f"{_letters[inner]}*" if isinstance(inner, str) and inner in _letters else "void*"
    dtype = getattr(t, "_dtype_", None)  # of numpy.ctypeslib.ndpointer
    if dtype is not None and dtype.kind in "fiub":
        from .c_forms import c_names

        return f"{c_names[dtype.name]}*"
    raise ValueError(
        f"a ctypes function whose type {getattr(t, '__name__', t)} is neither a number nor a pointer"
    )


def _of_cffi(cffi, value):
    if not isinstance(value, cffi.FFI.CData):  # of a module that cffi has built
        pointer = cffi.FFI().addressof(value.__self__, value.__name__)
        name = value.__name__
    else:
        pointer, name = value, "function"
    type_ = cffi.typeof(pointer)
    if type_.kind != "function":
        return None
    if type_.ellipsis:
        raise ValueError("a cffi function that takes any number of arguments")
    params = tuple(_cffi_name(t) for t in type_.args)
    result = "void" if type_.result.kind == "void" else _cffi_name(type_.result)
    number = cffi.cast(cffi.new_primitive_type("uintptr_t"), pointer)
    return int(number), name, result, params


def _cffi_name(t):
    if t.kind == "primitive":
        return t.cname
    if t.kind == "enum":
        return "int"
    if t.kind == "pointer":
        return f"{t.item.cname}*" if t.item.kind == "primitive" else "void*"
    raise ValueError(
        f"a cffi function that takes or returns {t.cname}, which is neither a number nor a pointer"
    )


def cffi_memory(value):
    """(address, the elements' type as C has it) of a pointer, an array or a struct of cffi; None of anything else."""
    cffi = loaded("_cffi_backend")
    if cffi is None or not isinstance(value, cffi.FFI.CData):
        return None
    type_ = cffi.typeof(value)
    if type_.kind in ("struct", "union"):
        value = cffi.FFI().addressof(value)
    elif type_.kind not in ("pointer", "array"):
        return None
    address = int(cffi.cast(cffi.new_primitive_type("uintptr_t"), value))
    return address, type_.cname if type_.kind in ("struct", "union") else type_.item.cname


def cffi_pointer(value, what, spelling, dtype):
    """The address that a pointer of C takes."""
    from .c_types import number_name

    found = cffi_memory(value)
    wanted = spelling.replace("const ", "").rstrip("* ")
    given = number_name(found[1].replace("const ", "")) if found else None
    if found is None or (given != dtype and wanted != "void" and found[1] != wanted):
        kind = f"cffi's {found[1]}*" if found else repr(value)
        raise TypeError(
            f"{what} is a pointer ({spelling}); got {kind}; pass an array of {dtype}, or cast it"
        )
    return found[0]


def _identifier(name):
    return name if name.isidentifier() else "function"


def _around(address, name, result, params):
    """A function that jumps to the address, which lies in a variable: code for it may come from disk."""
    from .c_module import CFunctionOfText, c_module

    own = _identifier(name)
    # Functions of one name may differ in their types alone: each has a variable of its own.
    symbol = f"unisono_address_{own}_{sum(_identifier(k[1]) == own for k in _made)}"
    _engine._add_variable(symbol, struct.pack("Q", address))
    types = ", ".join(params) or "void"
    heads = ", ".join(f"{t} p{k}" for k, t in enumerate(params)) or "void"
    call = f"(({result} (*)({types})) {symbol})({', '.join(f'p{k}' for k in range(len(params)))})"
    back = "" if result == "void" else "return "
    made = c_module(
        f"#include <stdint.h>\n#include <stddef.h>\ntypedef long ssize_t;\nextern unsigned long long {symbol};\n"
        f"{result} unisono_{own}({heads}) {{ {back}{call}; }}\n"
    )
    function = getattr(made, f"unisono_{own}")
    function = getattr(function, "_in_compiled_code", None) or function
    # Messages name it as the library does.
    state = _engine._native_state(function._native)
    declaration, parameters, forms = state[1].replace(f"unisono_{own}", own), state[2], state[10]
    native = _engine._native_with_forms(
        function._native, name, declaration, parameters, forms or repr(((), None, False))
    )
    function = CFunctionOfText(name, declaration, parameters, native)
    function._needs = None  # its address is this process's
    return function
