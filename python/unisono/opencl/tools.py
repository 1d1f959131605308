"""`pyopencl.tools`: allocators, memory pools, C types of dtypes, and fixtures for tests."""

import functools
import weakref

import numpy as np

from ._objects.c_types import (
    NAME_TO_DTYPE,
    Argument,
    DtypedArgument,
    OtherArg,
    ScalarArg,
    VectorArg,
    dtype_to_c_struct,
    dtype_to_ctype,
    get_arg_list_scalar_arg_dtypes,
    get_arg_offset_adjuster_code,
    get_or_register_dtype,
    match_dtype_to_c_struct,
    parse_arg_list,
    parse_c_arg,
    register_dtype,
)
from ._objects.constants import mem_flags, svm_mem_flags
from ._objects.driver import MemoryError, wrong
from ._objects.memory import Buffer, MemoryObject
from ._objects.platforms import Context, get_platforms
from ._objects.queues import CommandQueue
from ._objects.svm import SVMAllocation, SVMPointer


class AllocatorBase:
    """Gives memory for a number of bytes, and None for none."""

    def __call__(self, size):
        return None if size == 0 else self._allocate(size)


class DeferredAllocator(AllocatorBase):
    """Buffers of a context.

    Parameters
    ----------
    context : Context
    flags : int
        Of `mem_flags`.
    """

    is_deferred = True

    def __init__(self, context, flags=mem_flags.READ_WRITE):
        if not isinstance(context, Context):
            raise TypeError(
                f"{type(self).__name__}: expected a Context; got {type(context).__name__}"
            )
        self.context, self.flags = context, flags

    def _allocate(self, size):
        return Buffer(self.context, self.flags, size)


class ImmediateAllocator(DeferredAllocator):
    """Buffers whose memory the driver has when they are made.

    Parameters
    ----------
    queue : CommandQueue
    flags : int
        Of `mem_flags`.
    """

    is_deferred = False

    def __init__(self, queue, flags=mem_flags.READ_WRITE):
        if not isinstance(queue, CommandQueue):
            raise TypeError(
                f"ImmediateAllocator: expected a CommandQueue; got {type(queue).__name__}"
            )
        super().__init__(queue.context, flags)
        self.queue = queue


class SVMAllocator(AllocatorBase):
    """Shared virtual memory.

    Parameters
    ----------
    ctx : Context
    flags : int
        Of `svm_mem_flags`.
    alignment : int
    queue : CommandQueue, optional
        As for `SVMAllocation`.
    """

    is_deferred = False

    def __init__(self, ctx, *, flags=svm_mem_flags.READ_WRITE, alignment=0, queue=None):
        self.context, self.flags, self.alignment, self.queue = ctx, flags, alignment, queue

    def __call__(self, size):
        return SVMAllocation(self.context, size, self.alignment, self.flags, self.queue)


def _shift(value, by):
    return value << by if by >= 0 else value >> -by


class MemoryPool:
    """Keeps what an allocator gave, for later use.

    Parameters
    ----------
    allocator : callable
    leading_bits_in_bin_id : int
        How finely sizes are told apart: blocks are at most 1/2**bits larger than asked for.

    Notes
    -----
    The engine has such a pool of its own; a pool of the program's keeps blocks that only it uses.
    """

    _part = None

    def __init__(self, allocator, leading_bits_in_bin_id=4):
        if getattr(allocator, "is_deferred", False):
            import warnings

            warnings.warn(
                "MemoryPool: a deferred allocator finds out too late that memory ran out; use ImmediateAllocator",
                stacklevel=2,
            )
        if not callable(allocator):
            raise TypeError(f"MemoryPool: expected an allocator; got {type(allocator).__name__}")
        self._allocator, self._bits = allocator, leading_bits_in_bin_id
        self._held, self._holds = {}, True
        self.held_blocks = self.active_blocks = self.managed_bytes = self.active_bytes = 0

    def bin_number(self, size):
        """Number of the bin from which a size is served."""
        exponent = max(size, 1).bit_length() - 1
        mantissa = _shift(size, self._bits - exponent)
        return exponent << self._bits | mantissa & (1 << self._bits) - 1

    def alloc_size(self, bin_nr):
        """Bytes of the blocks of a bin."""
        exponent, mantissa = bin_nr >> self._bits, bin_nr & (1 << self._bits) - 1
        ones = _shift(1, exponent - self._bits)
        ones -= 1 if ones else 0
        head = _shift(1 << self._bits | mantissa, exponent - self._bits)
        return head | ones

    def allocate(self, size):
        """A block of so many bytes at least; None for none."""
        if size == 0:
            return None
        number = self.bin_number(size)
        held, room = self._held.setdefault(number, []), self.alloc_size(number)
        if held:
            block = held.pop()
            self.held_blocks -= 1
        else:
            try:
                block = self._allocator(room)
            except MemoryError:
                self.free_held()
                block = self._allocator(room)
            self.managed_bytes += room
        self.active_blocks += 1
        self.active_bytes += size
        return self._wrap(block, number, size)

    __call__ = allocate

    def _wrap(self, block, number, size):
        return (PooledSVM if isinstance(block, SVMPointer) else PooledBuffer)(
            self, block, number, size
        )

    def _take_back(self, block, number, size):
        self.active_blocks -= 1
        self.active_bytes -= size
        if self._holds:
            self._held.setdefault(number, []).append(block)
            self.held_blocks += 1
        else:
            self.managed_bytes -= self.alloc_size(number)

    def free_held(self):
        """Give back what is kept and not in use."""
        for number, blocks in self._held.items():
            self.managed_bytes -= self.alloc_size(number) * len(blocks)
        self._held.clear()
        self.held_blocks = 0

    def stop_holding(self):
        """Give back what is kept, and keep nothing from now on."""
        self._holds = False
        self.free_held()


class SVMPool(MemoryPool):
    """A `MemoryPool` of shared virtual memory."""

    def allocate(self, size):
        """A block of so many bytes at least."""
        return super().allocate(size) if size else self._allocator(0)

    __call__ = allocate


class PooledBuffer(MemoryObject):
    """A buffer that goes back to its pool."""

    def __init__(self, pool, block, number, size):
        self._pool, self._block, self._number, self._asked = pool, block, number, size
        self._address = block._address
        self._array, self._known = block.__dict__.get("_array"), block.__dict__.get("_known")
        if self._array is None:
            del self._array
        if self._known is None:
            del self._known

    def release(self):
        """Give it back to the pool."""
        block = self._block
        if block is None:
            raise wrong("PooledBuffer.release", "INVALID_VALUE", "it was released before")
        self._block = self._address = None
        self.__dict__.pop("_array", None)
        self._pool._take_back(block, self._number, self._asked)

    def __del__(self):
        if getattr(self, "_block", None) is not None:
            self.release()


class PooledSVM(SVMPointer):
    """Shared virtual memory that goes back to its pool."""

    def __init__(self, pool, block, number, size):
        self._pool, self._block, self._number, self._asked = pool, block, number, size
        self.svm_ptr, self.size = block.svm_ptr, block.size
        self._queue = self._pools_queue = getattr(block, "_queue", None)

    def bind_to_queue(self, queue):
        """Let the memory be given back behind the commands of a queue."""
        self._queue = queue

    def unbind_from_queue(self):
        """Wait for the queue; the memory is given back at once from then on."""
        if self._queue is not None:
            self._queue.finish()
        self._queue = None

    def release(self):
        """Give it back to the pool."""
        if self._block is None:
            raise wrong("PooledSVM.release", "INVALID_VALUE", "it was released before")
        if self._queue is not None and self._queue != self._pools_queue:
            self._queue.finish()  # whom the pool gives it next may use another queue
        block, self._block, self.svm_ptr = self._block, None, None
        self._pool._take_back(block, self._number, self._asked)

    def __del__(self):
        if getattr(self, "_block", None) is not None:
            self.release()


_caches = weakref.WeakSet()


def first_arg_dependent_memoize(func):
    """Decorator: results are kept as long as the first argument lives."""
    cache = weakref.WeakKeyDictionary()

    @functools.wraps(func)
    def wrapper(cl_object, *args, **kwargs):
        known = cache.setdefault(cl_object, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in known:
            known[key] = func(cl_object, *args, **kwargs)
        return known[key]

    wrapper._cache = cache
    _caches.add(wrapper)
    return wrapper


first_arg_dependent_memoize_nested = context_dependent_memoize = first_arg_dependent_memoize


def clear_first_arg_caches():
    """Forget what `first_arg_dependent_memoize` keeps."""
    for wrapper in _caches:
        wrapper._cache.clear()


def get_test_platforms_and_devices(plat_dev_string=None):
    """List of (platform, devices), of all or of those that a text names: ``platform:device,device;...``.

    By default the text is that of ``PYOPENCL_TEST``.
    """
    import os

    text = os.environ.get("PYOPENCL_TEST") if plat_dev_string is None else plat_dev_string
    if not text:
        return [(p, p.get_devices()) for p in get_platforms()]
    from ._objects.platforms import _named

    found = []
    for entry in text.split(";"):
        platform_text, _, devices_text = entry.partition(":")
        platform = _named("platform", get_platforms(), platform_text.strip())
        devices = platform.get_devices()
        if devices_text:
            devices = [_named("device", devices, d.strip()) for d in devices_text.split(",")]
        found.append((platform, devices))
    return found


class _ContextFactory:
    """Makes contexts of one device, for tests."""

    def __init__(self, device):
        self.device = device

    def __call__(self):
        return Context([self.device])

    def __str__(self):
        return f"<context factory for {self.device!r}>"


def pytest_generate_tests_for_pyopencl(metafunc):
    """Runs a test that takes ``ctx_factory`` (or ``device``, ``platform``) on each device."""
    names = [
        n for n in ("ctx_factory", "ctx_getter", "device", "platform") if n in metafunc.fixturenames
    ]
    if not names:
        return
    rows = []
    for platform, devices in get_test_platforms_and_devices():
        for device in devices:
            factory = _ContextFactory(device)
            values = {
                "ctx_factory": factory,
                "ctx_getter": factory,
                "device": device,
                "platform": platform,
            }
            rows.append(tuple(values[n] for n in names))
    metafunc.parametrize(
        ",".join(names), [r[0] for r in rows] if len(names) == 1 else rows, ids=str
    )


def array_module(a):
    """`unisono.opencl.array` for arrays of it, else numpy."""
    if isinstance(a, np.ndarray):
        return np
    from . import array

    return array


def bitlog2(value):
    """Number of the highest bit that is set."""
    return int(value).bit_length() - 1


def get_gl_sharing_context_properties():
    """Memory is not shared with OpenGL."""
    raise NotImplementedError("get_gl_sharing_context_properties: memory is not shared with OpenGL")


def is_spirv(s):
    """Whether bytes are SPIR-V."""
    return isinstance(s, bytes) and s[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


__all__ = [
    "NAME_TO_DTYPE", "Argument", "DeferredAllocator", "DtypedArgument", "ImmediateAllocator", "MemoryPool", "OtherArg",
    "PooledBuffer", "PooledSVM", "SVMAllocator", "SVMPool", "ScalarArg", "VectorArg", "array_module", "bitlog2",
    "clear_first_arg_caches", "context_dependent_memoize", "dtype_to_c_struct", "dtype_to_ctype", "first_arg_dependent_memoize",
    "first_arg_dependent_memoize_nested", "get_arg_list_scalar_arg_dtypes", "get_arg_offset_adjuster_code",
    "get_gl_sharing_context_properties", "get_or_register_dtype", "get_test_platforms_and_devices", "is_spirv",
    "match_dtype_to_c_struct", "parse_arg_list", "parse_c_arg", "pytest_generate_tests_for_pyopencl", "register_dtype",
]  # fmt: skip
