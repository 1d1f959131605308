"""Arguments of raw kernels against what the C text declares: packed arrays of a dtype, numbers that fit."""

from __future__ import annotations

from .._arrays.axes import byte_strides
from .._arrays.exchange.memory_pointer import MemoryPointer
from .._engine import _Array, ndarray
from ..cuda import devices  # the package before its parts: another thread may be importing it
from . import record_arguments
from .textures import TextureObject


class Declared:
    """One parameter of a kernel: its name and type, and whether it is a pointer."""

    __slots__ = ("base", "is_const", "is_pointer", "name", "record", "strides")

    def __init__(self, name, base, is_pointer, record=None, is_const=False):
        import numpy as np

        self.name, self.base, self.is_pointer = name, base, is_pointer
        self.record, self.is_const = record, is_const
        self.strides = (np.dtype(base).itemsize,) if record is None else ()

    def __str__(self):
        return f"{self.base} {'*' if self.is_pointer else ''}{self.name}"


def arguments_of(kernel, declared, args, device="cpu", back=None):
    """The arguments as the kernel takes them: one-dimensional arrays, and numbers of the declared types.

    Memory of structs on the host is copied to the device; `back` gets (copy, bytes of the host) of what is copied back.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For another number of arguments, for types, layouts and values that do not fit.
    """
    if len(args) != len(declared):
        raise TypeError(
            f"{kernel}: the kernel takes {len(declared)} arguments; got {len(args)}; give {', '.join(map(str, declared))}"
        )
    given = []
    for d, a in zip(declared, args, strict=True):
        if d.record is not None:
            if d.is_pointer:
                given += record_arguments.memory(kernel, d, a, device, back)
            else:
                given += record_arguments.value(kernel, d, a)
        elif not d.is_pointer:
            given.append(number_of(kernel, d.name, d.base, a))
        elif (
            type(a) is ndarray and a.dtype.name == d.base and a.strides == d.strides
        ):  # what most calls have, found quickly
            given.append(a)
        else:
            given.append(_pointer(kernel, d, a))
    return given


def _pointer(kernel, d, a):
    if isinstance(a, MemoryPointer):
        a = (a + 0)._array.view(d.base)
    elif isinstance(a, TextureObject):
        a = a._memory
    dtype = getattr(a, "dtype", None)
    is_scalar = dtype is not None and a.ndim == 0 and not isinstance(a, _Array)
    if dtype is None or not hasattr(a, "shape") or is_scalar:
        raise TypeError(
            f"{kernel}: '{d.name}' is a pointer to {d.base}; got {type(a).__name__}; give an array"
        )
    if dtype.name != d.base:
        raise TypeError(
            f"{kernel}: '{d.name}' is a pointer to {d.base}; got an array of {dtype.name}; convert it with "
            f"astype('{d.base}')"
        )
    a = in_memory_order(a)
    if not is_packed(a):
        raise ValueError(
            f"{kernel}: '{d.name}' is a pointer; got an array whose elements do not follow each other; give a copy of it"
        )
    return a if a.ndim == 1 else a.reshape(-1)


def in_memory_order(a):
    """The array with its axes in the order of its memory, so that one in column-major order is packed, too."""
    if a.ndim < 2 or is_packed(a):
        return a
    steps = byte_strides(a)
    return a.transpose(sorted(range(a.ndim), key=lambda k: -steps[k] if a.shape[k] != 1 else 0))


def is_packed(a):
    """Whether the elements follow each other; quicker than its flags."""
    step = a.itemsize
    for n, stride in zip(reversed(a.shape), reversed(byte_strides(a)), strict=True):
        if n != 1 and stride != step:
            return a.size == 0
        step *= n
    return True


_limits = {
    "bool": (0, 1), "int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1), "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
}  # fmt: skip


def place_of(given):
    """Name of the device where a call runs: that of its arrays, else the current one."""
    for a in given:
        a = a._memory if isinstance(a, TextureObject) else a
        if isinstance(a, (_Array, MemoryPointer)) and a.device.name != "cpu":
            return a.device.name
    return devices.current_device().name


def number_of(kernel, name, base, a):
    """A number as the text declares it."""
    import numpy as np

    if type(a) is int and base in _limits and base != "bool":
        low, high = _limits[base]
        if low <= a <= high:
            return a
    elif type(a) is float and base in ("float32", "float64"):
        return a
    kind = getattr(getattr(a, "dtype", None), "kind", None)
    kind = kind or {bool: "b", int: "i", float: "f", complex: "c"}.get(type(a), "")
    if base.startswith("complex") and kind in tuple("biufc") and not getattr(a, "ndim", 0):
        return getattr(np, base)(a)
    if kind not in "biuf" or not kind or getattr(a, "ndim", 0):
        raise TypeError(f"{kernel}: '{name}' is {base}; got {type(a).__name__}; give a number")
    if base.startswith("float"):
        return getattr(np, base)(a)
    if kind == "f":
        raise TypeError(
            f"{kernel}: '{name}' is {base}; got the float {float(a)}; convert it with int(...)"
        )
    low, high = _limits[base]
    value = int(a)
    if not low <= value <= high:
        raise OverflowError(
            f"{kernel}: '{name}' is {base}; got {value}; give a number from {low} to {high}"
        )
    return bool(value) if base == "bool" else getattr(np, base)(value)
