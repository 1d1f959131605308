"""Arguments of kernels: converted to the declared C type, or refused.

Drivers tell of each parameter where it lives and the name of its type. Of binaries they may not: then only NumPy's
scalars and memory are taken, whose size the driver checks.
"""

import re
import struct
import weakref

import numpy as np

from ... import _engine
from . import driver
from .constants import kernel_arg_address_qualifier, kernel_arg_info
from .driver import wrong
from .memory import LocalMemory, MemoryObjectHolder

_integers = {
    "char": (1, True), "uchar": (1, False), "short": (2, True), "ushort": (2, False), "int": (4, True),
    "uint": (4, False), "long": (8, True), "ulong": (8, False), "size_t": (8, False), "ptrdiff_t": (8, True),
    "intptr_t": (8, True), "uintptr_t": (8, False), "bool": (1, False),
}  # fmt: skip
_long_names = {
    "unsigned char": "uchar", "unsigned short": "ushort", "unsigned int": "uint", "unsigned long": "ulong",
    "unsigned": "uint", "signed char": "char", "signed int": "int", "long long": "long", "_Bool": "bool",
}  # fmt: skip
_floats = {"half": np.float16, "float": np.float32, "double": np.float64}
_scalars = {
    **{
        name: np.dtype(f"{'i' if signed else 'u'}{size}")
        for name, (size, signed) in _integers.items()
    },
    **{name: np.dtype(kind) for name, kind in _floats.items()},
}
_of_dtype = {np.dtype(t): name for name, t in reversed(_scalars.items())}


class Parameter:
    """A parameter of a kernel, and how its argument is set."""

    letter = "?"  # "m" for memory, that of a number, or what only Python can set

    def __init__(self, kernel, index, name, type_name):
        # The kernel keeps its parameters: an address, no reference.
        self._kernel, self._index = kernel._address, index
        self._context = kernel.context_address()
        self._of, self.name, self.type_name = kernel.function_name, name, type_name
        self._set = driver.function("clSetKernelArg")

    def refuse(self, arg, expected, why="INVALID_ARG_VALUE"):
        """The error that says what the parameter takes."""
        shown = repr(arg)
        shown = type(arg).__name__ if len(shown) > 60 else f"{shown} of type {type(arg).__name__}"
        return wrong(
            f"kernel {self._of}", why,
            f"argument {self._index + 1} ('{self.type_name} {self.name}') got {shown}; expected {expected}",
        )  # fmt: skip

    def check(self, code, arg):
        """Raises what the driver says."""
        if code:
            raise driver.error_of(
                code,
                f"kernel {self._of}",
                f"argument {self._index + 1} ('{self.type_name} {self.name}') got {arg!r}",
            )

    def set_bytes(self, data, arg, last):
        """Sets an argument to bytes, unless it is that already."""
        if last[self._index] == data:
            return
        last[self._index] = None
        self.check(self._set(self._kernel, self._index, len(data), data), arg)
        last[self._index] = data

    def as_given(self, dtype):
        """The parameter as set_scalar_arg_dtypes says."""
        if dtype is None or isinstance(dtype, (LocalMemory, type)) and dtype is LocalMemory:
            return self
        dtype = np.dtype(dtype)
        if dtype in _of_dtype and dtype != getattr(self, "dtype", None):
            made = object.__new__(Scalar)
            made.__dict__.update(self.__dict__)
            made.use(dtype)
            return made
        return self


class Pointer(Parameter):
    """Memory of the device."""

    letter = "m"

    def set(self, arg, last):
        index, is_lent = self._index, False
        if isinstance(arg, MemoryObjectHolder):
            memory = arg
        elif arg is None:
            self.check(self._set(self._kernel, index, 8, None), arg)
            last[index] = None
            return
        elif hasattr(arg, "svm_ptr"):
            if arg.svm_ptr is None and getattr(arg, "size", None):
                raise self.refuse(arg, "memory that was not released")
            last[index] = None
            set_pointer = driver.function("clSetKernelArgSVMPointer")
            self.check(set_pointer(self._kernel, index, arg.svm_ptr), arg)
            return
        elif isinstance(arg, _engine._Array):
            from .kernels import of_engine

            memory = of_engine(arg)  # of this call: the array is what lives on
            is_lent = True
        elif hasattr(arg, "base_data"):
            if getattr(arg, "offset", 0):
                raise self.refuse(
                    arg,
                    "an array that begins at its buffer's begin; pass .base_data and the offset",
                )
            memory = arg.base_data
            if not isinstance(memory, MemoryObjectHolder):
                return self.set(memory, last)
        else:
            raise self.refuse(
                arg,
                "memory of the device: a Buffer, SVM, an array of unisono on it, an Image, or None",
            )
        mark = weakref.ref(memory)
        if last[index] is not mark or not memory._address:
            if memory.context_address() != self._context:  # which drivers crash on
                raise self.refuse(arg, "memory of the kernel's context", "INVALID_CONTEXT")
            pointer = _pointer(memory.int_ptr)  # raises where the driver keeps what was set before
            last[index] = None
            self.check(self._set(self._kernel, index, 8, pointer), arg)
            last[index] = None if is_lent else mark


def _pointer(address):
    return struct.pack("N", address)


class Local(Parameter):
    """Local memory: how many bytes of it."""

    def __init__(self, kernel, *given):
        super().__init__(kernel, *given)
        self._most = max(d.local_mem_size for d in kernel.context.devices)

    def set(self, arg, last):
        if not isinstance(arg, LocalMemory):
            raise self.refuse(arg, "LocalMemory(bytes)")
        if last[self._index] != arg.size:
            if arg.size > self._most:  # which drivers crash on
                expected = f"{self._most} bytes at most, the device's local_mem_size"
                raise self.refuse(arg, expected, "OUT_OF_RESOURCES")
            last[self._index] = None
            self.check(self._set(self._kernel, self._index, arg.size, None), arg)
            last[self._index] = arg.size


class Object(Parameter):
    """An image, a sampler or a queue."""

    def set(self, arg, last):
        if isinstance(arg, (int, float, np.generic)) or not hasattr(arg, "int_ptr"):
            raise self.refuse(arg, "an Image" if "image" in self.type_name else "a Sampler")
        if arg.context.int_ptr != self._context:
            raise self.refuse(arg, "an object of the kernel's context", "INVALID_CONTEXT")
        pointer = _pointer(arg.int_ptr)
        last[self._index] = None
        self.check(self._set(self._kernel, self._index, 8, pointer), arg)
        last[self._index] = weakref.ref(arg)


class Scalar(Parameter):
    """A number of a C type."""

    def use(self, dtype):
        """Decides for a dtype."""
        self.dtype, self._type = dtype, dtype.type
        self.letter = dtype.char
        self._pack = struct.Struct(
            dtype.char if dtype.kind in "iu" else {2: "e", 4: "f", 8: "d"}[dtype.itemsize]
        ).pack
        self._whole = dtype.kind in "iu"
        if self._whole:
            limits = np.iinfo(dtype)
            self._low, self._high = int(limits.min), int(limits.max)

    def set(self, arg, last):
        if type(arg) is self._type:
            data = arg.tobytes()
        elif type(arg) is int and self._whole and self._low <= arg <= self._high:
            data = self._pack(arg)
        else:
            data = self.convert(arg)
        index = self._index
        if last[index] != data:
            last[index] = None
            self.check(self._set(self._kernel, index, len(data), data), arg)
            last[index] = data

    def convert(self, arg):
        """Bytes of the C type; refuses what does not fit."""
        if isinstance(arg, (np.ndarray, _engine._Array)) and arg.ndim == 0:
            arg = np.asarray(arg)[()]  # un.int32(5) as numpy.int32(5)
        if isinstance(arg, (bool, int, float, np.integer, np.floating, np.bool_)):
            value = arg.item() if isinstance(arg, np.generic) else arg
            if not self._whole:
                try:
                    return self._pack(value)
                except (OverflowError, struct.error):
                    if isinstance(value, float):  # beyond float32 is infinite, as in C
                        return np.array(value).astype(self.dtype).tobytes()
                    raise self.refuse(arg, f"a number that fits {self.type_name}") from None
            if isinstance(value, float):
                raise self.refuse(arg, f"an integer; use numpy.{self.dtype}(x) to cut it")
            if self._low <= value <= self._high:
                return self._pack(value)
            raise self.refuse(arg, f"an integer from {self._low} to {self._high}")
        raise self.refuse(arg, f"a number, such as numpy.{self.dtype}(x)")


class Bytes(Parameter):
    """A vector, a struct, or what the driver does not tell the type of."""

    size = None

    def set(self, arg, last):
        if (
            isinstance(arg, (MemoryObjectHolder, LocalMemory))
            or hasattr(arg, "svm_ptr")
            or arg is None
        ):
            if self.type_name != "?":
                raise self.refuse(arg, f"bytes of a {self.type_name}")
            return (Local if isinstance(arg, LocalMemory) else Pointer).set(self, arg, last)
        if hasattr(arg, "int_ptr") and self.type_name == "?":
            return Object.set(self, arg, last)
        if isinstance(arg, np.generic):
            data = arg.tobytes()
        elif isinstance(arg, (bool, int, float, complex)):
            raise self.refuse(arg, "an object whose bytes are the value, such as a scalar of NumPy")
        else:
            try:
                data = bytes(memoryview(arg).cast("B"))
            except (TypeError, ValueError):
                try:
                    data = arg.tobytes()
                except AttributeError:
                    raise self.refuse(arg, "an object whose bytes are the value") from None
        if self.size is not None and len(data) != self.size:
            raise self.refuse(
                arg, f"{self.size} bytes; its value has {len(data)}", "INVALID_ARG_SIZE"
            )
        self.set_bytes(data, arg, last)


def parameter_of(kernel, index):
    """The parameter of a kernel with that number."""
    try:
        type_name = kernel.get_arg_info(index, kernel_arg_info.TYPE_NAME)
        name = kernel.get_arg_info(index, kernel_arg_info.NAME)
        where = kernel.get_arg_info(index, kernel_arg_info.ADDRESS_QUALIFIER)
    except driver.Error:
        return Bytes(kernel, index, f"#{index + 1}", "?")
    if where == kernel_arg_address_qualifier.LOCAL:
        return Local(kernel, index, name, type_name)
    if where in (
        kernel_arg_address_qualifier.GLOBAL,
        kernel_arg_address_qualifier.CONSTANT,
    ) and type_name.endswith("*"):
        return Pointer(kernel, index, name, type_name)
    if re.match(r"(image\d|sampler_t|queue_t|clk_event|pipe)", type_name):
        return Object(kernel, index, name, type_name)
    if type_name.endswith("*"):
        return Pointer(kernel, index, name, type_name)
    known = _long_names.get(type_name, type_name)
    if known in _scalars:
        made = Scalar(kernel, index, name, type_name)
        made.use(_scalars[known])
        return made
    made = Bytes(kernel, index, name, type_name)
    vector = re.fullmatch(r"([a-z]+)(2|3|4|8|16)", known)
    if vector and vector[1] in _scalars:
        count = int(vector[2])
        made.size = _scalars[vector[1]].itemsize * (4 if count == 3 else count)
    return made
