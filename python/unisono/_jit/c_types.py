"""What C text declares beside functions of numbers: structs, function pointers, constants."""

from __future__ import annotations

import ctypes
import dataclasses
import numbers
import re

from .. import _engine
from .c_bits import assign, has_bits, members, struct_class, unit_dtype, units
from .foreign import cffi_memory

_wrapped = {
    "record",
    "record*",
    "function",
    "complex",
    "long double",
}  # forms of parameters that need C around the function
_memory = {"void *", "const void *"}
_prefix = "unisono_form_"


def struct_dtypes(rows):
    """NumPy's dtypes of the structs and unions, by name; see c_bits.py for bit-fields."""
    import numpy as np

    known, made = {name: (size, fields) for name, size, fields, _ in rows}, {}

    def dtype_of(name):
        if name not in made:
            size, fields = known[name]
            if not fields:
                made[name] = np.dtype((np.void, size))
                return made[name]
            names, formats, offsets = [], [], []
            for field, number, inner, extents, offset, size_of_field, _, bits, _ in fields:
                if bits:
                    continue
                if number:
                    kind = np.dtype(number)
                elif inner in known:
                    kind = dtype_of(inner)
                else:  # an address, or a union without a name
                    kind = np.dtype(np.uint64 if size_of_field == 8 else (np.void, size_of_field))
                formats.append((kind, extents) if extents else kind)
                names.append(field)
                offsets.append(offset)
            for unit, offset, unit_size in units(fields):
                formats.append(unit_dtype(unit_size))
                names.append(unit)
                offsets.append(offset)
            made[name] = np.dtype(
                {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}
            )
            if any(f[7] for f in fields):
                made[name] = np.dtype((struct_class(), made[name]))
        return made[name]

    for name in known:
        dtype_of(name)
    return made


def _declared(spelling, name):
    """A parameter of C; only names of types can stand in front of its name as they are."""
    is_plain = re.fullmatch(r"\w[\w ]*\**", spelling)
    return f"{spelling} {name}" if is_plain else f"__typeof__({spelling}) {name}"


def names_in_wrapper(parameters, types):
    """The names of the parameters of what `wrapper` writes, for messages."""
    result, params = types
    names = []
    for name, (_, form, _, _) in zip(parameters, params, strict=True):
        names += [f"{name}.real", f"{name}.imag"] if form == "complex" else [name]
    return names + ["result"] * (result[1] in ("record", "complex"))


def wrapper(name, types):
    """C that takes addresses in place of structs and functions, or None where that is not needed."""
    result, params = types
    gives_address = result[1] in ("pointer", "record*", "function")
    by_parts = result[1] in ("record", "complex", "long double")
    takes_memory = any(p[0] in _memory for p in params)
    if not (gives_address or by_parts or takes_memory or _wrapped & {p[1] for p in params}):
        return None
    heads, given = [], []
    for k, (spelling, form, _, _) in enumerate(params):
        if form == "record":
            heads.append(f"unsigned long long p{k}_")
            given.append(f"*(__typeof__({spelling}) *) p{k}_")
        elif form == "complex":
            heads += [f"double p{k}_", f"double p{k}_i_"]
            given.append(f"__builtin_complex(p{k}_, p{k}_i_)")
        elif form == "long double":
            heads.append(f"double p{k}_")
            given.append(f"p{k}_")
        elif form in _wrapped or spelling in _memory:
            heads.append(f"unsigned long long p{k}_")
            given.append(f"({spelling}) p{k}_")
        else:
            heads.append(_declared(spelling, f"p{k}_"))
            given.append(f"p{k}_")
    call, gives = f"{name}({', '.join(given)})", "void"
    if result[1] == "record":
        heads.append(f"__typeof__({result[0]}) *result_")
        call = f"*result_ = {call}"
    elif result[1] == "complex":
        heads.append("double *result_")
        call = f"{result[0]} z_ = {call}; result_[0] = __real__ z_; result_[1] = __imag__ z_"
    elif gives_address:
        gives, call = "unsigned long long", f"return (unsigned long long) {call}"
    elif result[1] == "long double":
        gives, call = "double", f"return {call}"
    elif result[1] != "void":
        gives, call = f"__typeof__({result[0]})", f"return {call}"
    return f"{gives} {_prefix}{name}({', '.join(heads) or 'void'}) {{ {call}; }}\n"


# See bindings/c/addresses.cpp; others pass as they are given.
_any_memory, _struct_pointer, _struct_value = 1, 2, 3
_kinds = {"record": _struct_value, "record*": _struct_pointer, "function": _struct_pointer}


def _taken(types, dtypes):
    """How arrays pass as addresses, past `_convert_and_call`; None where each call needs that."""
    result, params = types
    if result[1] in ("record", "complex") or result[0] == "const char *":
        return None
    rows = []
    for spelling, form, record, is_const in params:
        if form == "complex":
            return None
        kind = _any_memory if spelling in _memory else _kinds.get(form, 0)
        rows.append((kind, not is_const and kind != _struct_value, dtypes.get(record)))
    return rows


class CFunctionOfStructs(_engine._AddressCall):
    """A function of C text that takes or gives structs, functions or addresses.

    It has the attributes of `CFunctionOfText`.
    """

    def __init__(self, name, declaration, parameters, types, compiled, flat, dtypes):
        if (rows := _taken(types, dtypes)) is not None:
            super().__init__(compiled, rows)
        self.__name__ = self.__qualname__ = name
        self.declaration, self.parameters = declaration, tuple(parameters)
        self.__doc__ = declaration
        self._result, self._types = types
        self._compiled, self._flat, self._dtypes = compiled, flat, dtypes
        self._callbacks = {}  # C may keep their addresses: they live as long as the function

    @property
    def _in_compiled_code(self):
        """What compiled functions call; see c_forms.py."""
        return self._flat

    def _convert_and_call(self, *args, **named):
        """A call with whatever stands for an address, as tuples, functions and memory of ctypes."""
        args += tuple(named.pop(n) for n in self.parameters[len(args) :] if n in named)
        if named:
            raise TypeError(
                f"{self.__name__}: keyword argument '{next(iter(named))}' names no parameter that is left; "
                f"got {', '.join(named)}; the declaration is {self.declaration}; check the call"
            )
        if len(args) != len(self._types):
            raise TypeError(
                f"{self.__name__}: takes {len(self._types)} arguments; got {len(args)}; the declaration is "
                f"{self.declaration}; give one for each"
            )
        kept = []  # what addresses are taken of
        given = []
        for k, (x, t) in enumerate(zip(args, self._types, strict=True)):
            given += self._complex(k, x) if t[1] == "complex" else [self._converted(k, x, t, kept)]
        if self._result[1] not in ("record", "complex"):
            made = self._compiled(*given)
            if self._result[0] != "const char *":
                return made
            return ctypes.string_at(made).decode(errors="surrogateescape") if made else None
        import numpy as np

        if self._result[1] == "complex":
            parts = np.zeros(2)
            self._compiled(*given, parts)
            return complex(*parts)

        made = np.zeros(1, self._dtypes[self._result[2]])
        self._compiled(*given, made.view(np.uint8))
        return made[0]

    def _complex(self, k, value):
        if not isinstance(value, numbers.Complex) and not hasattr(value, "__complex__"):
            raise TypeError(
                f"{self.__name__}: argument '{self.parameters[k]}' is a complex number; got "
                f"{type(value).__name__}; pass a number"
            )
        return [complex(value).real, complex(value).imag]

    def _converted(self, k, value, type_, kept):
        spelling, form, record, is_const = type_
        what = f"{self.__name__}: argument '{self.parameters[k]}'"
        if spelling in _memory:
            return _address_of_memory(value, is_const, what, spelling, kept)
        if form not in _wrapped or form == "long double":
            return value
        if form == "function":
            return callback_address(value, spelling, what, self._callbacks)
        dtype = self._dtypes.get(record)
        if form == "record":
            kept.append(_struct_of(value, dtype, what, spelling, self._callbacks))
            return kept[-1].ctypes.data
        if value is None:
            return 0
        if isinstance(value, int):
            return value
        if found := _of_ctypes(value):
            if dtype is not None and found[1] % dtype.itemsize:
                raise TypeError(
                    f"{what} is {spelling}; got {type(value).__name__} of {found[1]} bytes; pass one of {dtype.itemsize} bytes"
                )
            return found[0]
        if dtype is not None and is_const and isinstance(value, list) and value:
            import numpy as np

            kept.append(np.zeros(len(value), dtype))
            for at, item in enumerate(value):
                kept[-1][at : at + 1] = _struct_of(item, dtype, what, spelling, self._callbacks)
            return kept[-1].ctypes.data
        if (
            hasattr(value, "flags")
            and hasattr(value, "ctypes")
            and hasattr(value, "tobytes")
            and value.ndim
        ):
            kept.append(_laid_out(value, dtype) if is_const else value)
            return _address(kept[-1], dtype, is_const, what, spelling)
        if dtype is None or not is_const:
            raise TypeError(
                f"{what} is {spelling}; got {type(value).__name__}; pass an array of structs, as np.zeros(1, c.{record}), "
                f"or an address"
            )
        kept.append(_struct_of(value, dtype, what, spelling, self._callbacks))
        return kept[-1].ctypes.data

    def __repr__(self):
        return f"<C function {self.declaration}>"


def callback_address(function, spelling, what, callbacks):
    """The address of what C is to call; `callbacks` keeps it alive, as C may."""
    from . import JitFunction
    from .cfunc import CFunction, cfunc

    if function is None:
        return 0
    if isinstance(function, int):
        return function
    wanted = _signature(spelling)
    if isinstance(function, CFunction):
        has = function.signature.replace(" ", "")
        if wanted and "*" not in wanted and "*" not in has and has != wanted:
            raise TypeError(
                f'{what} is {spelling}; got a callback {has}; declare it as @un.cfunc("{wanted}")'
            )
        callbacks[id(function)] = function
        return function.address
    if isinstance(function, JitFunction):
        if wanted is None:
            raise TypeError(
                f"{what} is {spelling}; got a compiled function; pass one made by un.cfunc"
            )
        made = callbacks.get((id(function), wanted))
        if made is None:
            made = callbacks[id(function), wanted] = cfunc(wanted)(function.py_func)
            callbacks[id(function)] = function
        return made.address
    if isinstance(function, ctypes._CFuncPtr):
        callbacks[id(function)] = function
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise TypeError(
        f"{what} is {spelling}; got {type(function).__name__}; pass a function made by un.cfunc or un.jit, "
        f"or one of ctypes"
    )


def _item(value, dtype, what, callbacks):
    """A field's value: the address of a function, the bytes of a text."""
    if dtype == "uint64" and hasattr(value, "__array__") and value.ndim:
        return _address_of_memory(value, True, what, "a pointer")
    if dtype.base.kind == "u" and (callable(value) or value is None):
        return callback_address(value, "a pointer", what, callbacks)
    if dtype.subdtype and dtype.base.itemsize == 1 and isinstance(value, (str, bytes)):
        value = value.encode() if isinstance(value, str) else value
        return list(value.ljust(dtype.shape[0], b"\0"))
    return value


def _struct_of(value, dtype, what, spelling, callbacks):
    """An array of one struct: a copy of the value."""
    import numpy as np

    names = members(dtype)
    try:
        if isinstance(value, (np.void, np.ndarray)):
            if value.dtype != dtype or value.size != 1:
                raise TypeError
            return np.array(value).reshape(1).copy()  # an element may see read-only memory
        if dataclasses.is_dataclass(value):
            value = dataclasses.astuple(value)
        if isinstance(value, (ctypes.Structure, ctypes.Union)):
            if ctypes.sizeof(value) != dtype.itemsize:
                raise TypeError
            return np.frombuffer(bytes(value), dtype).copy()
        if found := cffi_memory(value):
            if found[1].removeprefix("struct ") != spelling.removeprefix("struct "):
                raise TypeError
            return np.frombuffer(ctypes.string_at(found[0], dtype.itemsize), dtype).copy()
        if isinstance(value, dict):
            made = np.zeros(1, dtype)
            offsets = {dtype.fields[n][1] for n in dtype.names}
            if len(value) < len(names) and len(offsets) == len(dtype.names):
                raise TypeError  # of a union one field is enough
            for name, item in value.items():
                made[0][name] = item
            return made
        if not isinstance(value, tuple) or len(value) != len(names):
            raise TypeError
        value = tuple(
            _item(x, dtype[n], what, callbacks) if n in dtype.names else x
            for x, n in zip(value, names, strict=True)
        )
        if not has_bits(dtype):
            return np.array([value], dtype)
        made = np.zeros(1, dtype)
        assign(made[0], value)
        return made
    except (TypeError, ValueError, KeyError):
        kind = getattr(value, "dtype", None) or type(value).__name__
        raise TypeError(
            f"{what} is {spelling}; got {kind}; pass a tuple or dataclass of its fields "
            f"{', '.join(names)}, or an element of an array of {'its dtype' if has_bits(dtype) else dtype}"
        ) from None


def _of_ctypes(value):
    """(address, bytes or 0 where they are not known) of memory of ctypes or cffi, of byref or a pointer; else None."""
    if type(value).__module__ == "_cffi_backend":
        found = cffi_memory(value)
        return found and (found[0], 0)
    if type(value).__name__ == "CArgObject":
        value = value._obj
    elif isinstance(value, (ctypes._Pointer, ctypes.c_void_p, ctypes.c_char_p)):
        return ctypes.cast(value, ctypes.c_void_p).value or 0, 0
    elif not isinstance(value, (ctypes.Array, ctypes.Structure, ctypes.Union)):
        return None
    return ctypes.addressof(value), ctypes.sizeof(value)


def _address_of_memory(value, is_const, what, spelling, kept=None):
    """Of any array or buffer; an address or None is taken as it is."""
    if value is None or isinstance(value, int):
        return value or 0
    if found := _of_ctypes(value):
        return found[0]
    array = value.__array__() if hasattr(value, "__array__") else _array_over(value)
    if array is None or not array.ndim or not array.flags.c_contiguous:
        kind = "an array with gaps" if array is not None and array.ndim else type(value).__name__
        raise TypeError(
            f"{what} is {spelling}; got {kind}; pass a contiguous array, an address or None"
        )
    if not is_const and not array.flags.writeable:
        raise TypeError(f"{what} is {spelling}; got a read-only array; pass a copy")
    if kept is not None:
        kept.append(array)
    return array.ctypes.data


def _array_over(value):
    """The bytes of a buffer, as bytes and arrays of Python's library; None of what is none."""
    import numpy as np

    try:
        return np.frombuffer(value, np.uint8) if memoryview(value).nbytes else np.zeros(1, np.uint8)
    except (TypeError, ValueError, BufferError):
        return None


def _laid_out(array, dtype):
    """Structs with the same fields at other places, as NumPy makes an array of a list of structs, as C has them."""
    same = dtype is not None and array.dtype.names is not None and array.dtype.names == dtype.names
    return array.astype(dtype) if same and array.dtype != dtype else array


def _address(array, dtype, is_const, what, spelling):
    """Of an array of structs, or of its bytes."""
    if (
        (dtype is None or array.dtype != dtype)
        and array.dtype.name not in ("uint8", "int8")
        or not array.flags.c_contiguous
    ):
        raise TypeError(
            f"{what} is {spelling}; got an array of {array.dtype}; pass a contiguous one of {dtype}"
        )
    if not is_const and not array.flags.writeable:
        raise TypeError(f"{what} is {spelling}; got a read-only array; pass a copy")
    return array.ctypes.data


_c_numbers = {
    "double": "float64", "float": "float32", "_Bool": "bool", "char": "int8", "signed char": "int8",
    "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16", "int": "int32",
    "unsigned int": "uint32", "long": "int64", "unsigned long": "uint64", "long long": "int64",
    "unsigned long long": "uint64", "void": "void",
}  # fmt: skip


def number_name(spelling):
    """The dtype's name of a number as C spells it, or None."""
    return _c_numbers.get(spelling)


def _signature(spelling):
    """``double (*)(double, int)`` as ``float64(float64,int32)``; None where it takes other things."""
    found = re.fullmatch(r"(.+?)\s*\(\*\)\((.*)\)", spelling)
    if not found:
        return None

    def number(text):
        text = re.sub(r"\bconst\b", "", text).strip()
        base = _c_numbers.get(text.rstrip("* "))
        return (
            f"{base}*"
            if base not in (None, "void") and text.endswith("*")
            else _c_numbers.get(text)
        )

    items = [number(t) for t in found[2].split(",")] if found[2] != "void" else []
    result = number(found[1])
    return None if None in (result, *items) else f"{result}({','.join(items)})"
