"""Texts, vectors, complex numbers and callbacks of C++: how they pass to Python and back.

Each is taken apart into numbers and pointers for the function with C's calling convention. What comes back lies in
memory that begins with a count, and is freed once it is read.
"""

from __future__ import annotations

import ctypes
import functools
import numbers
import re
import struct

from .c_types import _c_numbers, _signature, callback_address

preamble = """
static unsigned long long unisono_cpp_kept(const void* data, long long count, long long bytes) {
    char* p = (char*) __builtin_malloc(8 + bytes);
    __builtin_memcpy(p, &count, 8);
    __builtin_memcpy(p + 8, data, bytes);
    return (unsigned long long) p;
}
template <class S> static unsigned long long unisono_cpp_kept_text(const S& s) {
    return unisono_cpp_kept(s.data(), s.size(), s.size());
}
template <class V> static unsigned long long unisono_cpp_kept_vector(const V& v) {
    return unisono_cpp_kept(v.data(), v.size(), v.size() * sizeof(*v.data()));
}
template <class Z> static unsigned long long unisono_cpp_kept_complex(const Z& z) {
    return unisono_cpp_kept(&z, 1, sizeof z);
}
template <class V> static unsigned long long unisono_cpp_kept_texts(const V& v) {
    long long bytes = 0;
    for (const auto& s : v) bytes += 8 + s.size();
    char* p = (char*) __builtin_malloc(8 + bytes);
    long long at = 8, count = v.size();
    __builtin_memcpy(p, &count, 8);
    for (const auto& s : v) {
        long long size = s.size();
        __builtin_memcpy(p + at, &size, 8);
        __builtin_memcpy(p + at + 8, s.data(), size);
        at += 8 + size;
    }
    return (unsigned long long) p;
}
template <class V> static V unisono_cpp_texts(const signed char* p, long long count) {
    V made;
    for (long long k = 0; k < count; ++k) {
        long long size;
        __builtin_memcpy(&size, p, 8);
        made.emplace_back((const char*) p + 8, size);
        p += 8 + size;
    }
    return made;
}
"""

_text = r"std::(?:\w+::)?basic_string(?:_view)?<char>"


def kind_of(type_):
    """(kind, type that C++ constructs, dtype) of what is taken apart; None of all else."""
    spelling, form = type_[0], type_[1]
    if _signature(spelling) and form == "other":
        return "function", spelling, ""
    plain = re.sub(r"\s*&{1,2}$|^const\s+", "", re.sub(r"\s*&{1,2}$", "", spelling)).strip()
    called = re.fullmatch(r"std::function<(.+?)\s*\((.*)\)>", plain)
    if called:
        pointer = f"{called[1]} (*)({called[2] or 'void'})"
        return ("function", pointer, "") if _signature(pointer) else None
    if re.fullmatch(_text, plain):
        return "text", plain, ""
    found = re.fullmatch(r"std::(?:\w+::)?(vector|complex)<(.+)>", plain)
    if not found:
        return None
    dtype = _c_numbers.get(found[2])
    if found[1] == "complex":
        return ("complex", plain, dtype) if dtype in ("float64", "float32") else None
    if re.fullmatch(r"std::(?:\w+::)?basic_string<char>\s*", found[2]):
        return "texts", plain, ""
    return ("vector", plain, dtype) if dtype not in (None, "void", "bool") else None


def is_changed(type_):
    """Whether the function may change what it is given: a reference that is not const."""
    return type_[0].rstrip().endswith("&") and not (
        type_[0].startswith("const ") or type_[0].rstrip().endswith("&&")
    )


def fields_of(kind, name):
    """What the C function takes: pairs of a type and a name."""
    what, spelling, dtype = kind
    if what == "function":
        return [("unsigned long long", name)]
    if what == "complex":
        number = "double" if dtype == "float64" else "float"
        return [(number, name), (number, f"{name}_i")]
    number = (
        next(c for c, d in _c_numbers.items() if d == dtype) if what == "vector" else "signed char"
    )
    return [(f"const {number}*", name), ("long long", f"{name}_n")]


def made_of(kind, name):
    """The C++ value made of these."""
    what, spelling, _ = kind
    own, size = f"a.{name}", f"a.{name}_n"
    if what == "function":
        return f"({spelling}) {own}"
    if what == "complex":
        return f"{spelling}({own}, {own}_i)"
    if what == "texts":
        return f"unisono_cpp_texts<{spelling}>({own}, {size})"
    if what == "text":
        return f"{spelling}((const char*) {own}, {size})"
    return f"{spelling}({own}, {own} + {size})"


def kept(kind, call):
    """The address of what the call gives, for `read`."""
    return f"unisono_cpp_kept_{kind[0]}({call})"


def score(kind, value):
    """How well the value fits, or None."""
    what, _, dtype = kind
    is_array = getattr(value, "dtype", None) is not None and getattr(value, "ndim", 0) > 0
    if what == "text":
        return 4 if isinstance(value, (str, bytes)) else None
    if what == "texts":
        fits = isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value)
        return 4 if fits else None
    if what == "complex":
        return 3 if isinstance(value, numbers.Complex) and not is_array else None
    if what == "function":
        return 3 if callable(value) or value is None or isinstance(value, int) else None
    if isinstance(value, (list, tuple)):
        wanted = numbers.Real if dtype.startswith("float") else numbers.Integral
        return 2 if all(isinstance(v, wanted) for v in value) else None
    if not is_array or value.ndim != 1:
        return None
    import numpy as np

    has = np.dtype(str(value.dtype).rsplit(".", 1)[-1])
    return 4 if has == dtype else 2 if np.can_cast(has, dtype, "same_kind") else None


def given(kind, value, what, callbacks):
    """The C arguments that the value is taken apart into."""
    import numpy as np

    form, spelling, dtype = kind
    if form == "function":
        return [callback_address(value, spelling, what, callbacks)]
    if form == "complex":
        return [complex(value).real, complex(value).imag]
    if form == "vector":
        array = np.ascontiguousarray(value, dtype)
        return [array, len(array)] if len(array) else [np.zeros(1, dtype), 0]
    if form == "text":
        data = value.encode() if isinstance(value, str) else value
        return [np.frombuffer(data + b"\0", np.int8).copy(), len(data)]
    texts = [v.encode() for v in value]
    data = b"".join(struct.pack("q", len(t)) + t for t in texts) + b"\0"
    return [np.frombuffer(data, np.int8).copy(), len(texts)]


def read(kind, address):
    """The Python value of what `kept` kept; its memory is freed."""
    import numpy as np

    what, _, dtype = kind
    (count,) = struct.unpack("q", ctypes.string_at(address, 8))
    at = address + 8
    try:
        if what == "text":
            return ctypes.string_at(at, count).decode(errors="surrogateescape")
        if what == "vector":
            size = np.dtype(dtype).itemsize * count
            return np.frombuffer(ctypes.string_at(at, size), dtype).copy()
        if what == "complex":
            size = 16 if dtype == "float64" else 8
            return complex(*struct.unpack("dd" if size == 16 else "ff", ctypes.string_at(at, size)))
        made = []
        for _ in range(count):
            (size,) = struct.unpack("q", ctypes.string_at(at, 8))
            made.append(ctypes.string_at(at + 8, size).decode(errors="surrogateescape"))
            at += 8 + size
        return made
    finally:
        _free()(ctypes.c_void_p(address))


@functools.cache
def _free():
    return ctypes.CDLL(None).free
