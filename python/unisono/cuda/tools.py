"""``pycuda.tools``: C types, arguments of kernels, memory pools."""

from __future__ import annotations

import functools

import numpy as np

from .. import memory
from ._allocations import LogicError, PooledDeviceAllocation, memory_device
from ._contexts import Device, default_device
from .devices import current_device

__all__ = [
    "Argument", "DeviceData", "DeviceMemoryPool", "PageLockedMemoryPool", "ScalarArg", "VectorArg", "bitlog2",
    "clear_context_caches", "context_dependent_memoize", "dtype_to_ctype", "get_arg_type", "get_default_device",
    "init_cuda_context_fixture", "make_default_context", "mark_cuda_test", "parse_c_arg", "register_dtype",
]  # fmt: skip

_C = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long", "uint64": "unsigned long", "float32": "float",
    "float64": "double", "float16": "__half", "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}  # fmt: skip
_of_name = {c: d for d, c in _C.items()} | {
    "char": "int8", "unsigned": "uint32", "long long": "int64", "unsigned long long": "uint64", "size_t": "uint64",
    "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "half": "float16", "ptrdiff_t": "int64",
    "int long": "int64", "long int": "int64", "long unsigned int": "uint64", "unsigned long int": "uint64",
}  # fmt: skip
for _d in _C:
    _of_name[f"{_d}_t"] = _of_name["npy_" + _d] = _d


class Argument:
    """An argument of a kernel: its dtype and name."""

    def __init__(self, dtype, name):
        self.dtype, self.name = np.dtype(dtype), name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A pointer to elements."""

    struct_char = "P"

    def declarator(self):
        """C text."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A number."""

    def declarator(self):
        """C text."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self):
        """Character of `struct`."""
        return self.dtype.char


def dtype_to_ctype(dtype):
    """C's name of a dtype.

    Raises
    ------
    ValueError
        If kernels of text have none.

    Examples
    --------
    >>> from unisono.cuda.tools import dtype_to_ctype
    >>> dtype_to_ctype("uint32")
    'unsigned int'
    """
    if dtype is None:
        raise ValueError("dtype_to_ctype: expected a dtype; got None")
    name = np.dtype(dtype).name
    if name not in _C:
        raise ValueError(
            f"dtype_to_ctype: kernels of text have no {name}; got it; use one of {', '.join(_C)}"
        )
    return _C[name]


def register_dtype(dtype, name):
    """Let a C name stand for a dtype."""
    _of_name[name] = np.dtype(dtype).name


def parse_c_arg(c_arg):
    """`VectorArg` or `ScalarArg` of a C declarator.

    Examples
    --------
    >>> from unisono.cuda.tools import parse_c_arg
    >>> parse_c_arg("const float *x")
    VectorArg('x', float32)
    """
    text = c_arg.strip()
    is_pointer = "*" in text
    words = [
        w
        for w in text.replace("*", " ").split()
        if w not in ("const", "volatile", "__restrict__", "restrict")
    ]
    kind = " ".join(words[:-1])
    if (
        text.count("*") > 1
        or len(words) < 2
        or kind not in _of_name
        or not words[-1].isidentifier()
    ):
        raise ValueError(
            f"parse_c_arg: expected a type and a name, as 'float *x' or 'int n'; got {c_arg!r}; the types are "
            f"{', '.join(_C.values())}"
        )
    return (VectorArg if is_pointer else ScalarArg)(_of_name[kind], words[-1])


def arguments_of(arguments):
    """List of Arguments of text or of Arguments."""
    if isinstance(arguments, str):
        return [parse_c_arg(a) for a in arguments.split(",")]
    return list(arguments)


def get_arg_type(c_arg):
    """Character of `struct` of a C declarator."""
    return parse_c_arg(c_arg).struct_char


def bitlog2(n):
    """Number of the highest bit that is set."""
    return int(n).bit_length() - 1


def context_dependent_memoize(func):
    """Decorator: results are kept for each device."""
    kept = {}
    _caches.append(kept)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = (current_device().name, args, tuple(sorted(kwargs.items())))
        if key not in kept:
            kept[key] = func(*args, **kwargs)
        return kept[key]

    return wrapper


_caches = []


def clear_context_caches():
    """Forget what `context_dependent_memoize` keeps."""
    for kept in _caches:
        kept.clear()


def get_default_device(default=0):
    """The Device of ``CUDA_DEVICE``, else the current one."""
    return default_device()


def make_default_context(ctx_maker=None):
    """A context of the default device, made current."""
    device = default_device()
    return device.make_context() if ctx_maker is None else ctx_maker(device)


def init_cuda_context_fixture():
    """The generator of a fixture of pytest: a context of the default device during a test."""
    context = make_default_context()
    yield
    context.pop()
    clear_context_caches()


def mark_cuda_test(function):
    """The function as it is: tests need no context here."""
    return function


class DeviceMemoryPool:
    """Blocks of the engine's pool with PyCUDA's calls.

    Examples
    --------
    >>> from unisono.cuda.tools import DeviceMemoryPool
    >>> pool = DeviceMemoryPool()
    >>> block = pool.allocate(1000)
    >>> pool.active_blocks
    1
    >>> block.free()
    >>> pool.active_blocks
    0
    """

    def __init__(self):
        import weakref

        self._active = weakref.WeakSet()
        self._is_holding = True

    def allocate(self, size):
        """A block of so many bytes."""
        if size <= 0:
            raise LogicError(
                f"DeviceMemoryPool.allocate: a block has bytes; got {size}; give a positive number"
            )
        made = PooledDeviceAllocation(int(size))
        self._active.add(made)
        return made

    @property
    def active_blocks(self):
        """Number of blocks in use."""
        return sum(block._bytes is not None for block in self._active)

    @property
    def active_bytes(self):
        """Bytes in use."""
        return sum(block.size for block in self._active if block._bytes is not None)

    @property
    def held_blocks(self):
        """1 where the engine keeps memory of the device for reuse."""
        return int(memory.stats(memory_device())["cached"] > 0)

    managed_bytes = property(
        lambda self: self.active_bytes + memory.stats(memory_device())["cached"],
        doc="Bytes in use and kept for reuse.",
    )

    def free_held(self):
        """Give back what is kept for reuse."""
        memory.trim(memory_device())

    def stop_holding(self):
        """`free_held`; the pool serves on."""
        self.free_held()

    @staticmethod
    def bin_number(size):
        """Number of the class of sizes."""
        size = max(int(size), 1)
        exponent = size.bit_length() - 1
        rest = (size >> max(exponent - 3, 0)) & 7 if exponent >= 3 else (size << (3 - exponent)) & 7
        exact = (size & ((1 << max(exponent - 3, 0)) - 1)) == 0
        return (exponent << 3 | rest) + (not exact)

    @staticmethod
    def alloc_size(bin_nr):
        """The largest size of a class."""
        exponent, rest = bin_nr >> 3, bin_nr & 7
        return ((8 | rest) << exponent) >> 3 or 1


class PageLockedMemoryPool:
    """Arrays of the host with PyCUDA's calls."""

    def allocate(self, shape, dtype, order="C"):
        """An array as of `pagelocked_empty`."""
        from .devices import pinned_array

        return pinned_array(shape, dtype, order=order)

    def free_held(self):
        """Nothing: arrays are the host's."""

    stop_holding = free_held


class DeviceData:
    """Limits of a device."""

    def __init__(self, dev=None):
        dev = dev or Device(current_device().name)
        self.max_threads = dev.max_threads_per_block
        self.warp_size = dev.warp_size
        self.shared_memory = dev.max_shared_memory_per_block
        self.thread_blocks_per_mp = 8
        self.smem_alloc_granularity, self.smem_granularity = 128, 32
