"""Shared virtual memory of OpenCL 2: memory that host and device reach by one address."""

import ctypes
import math
import operator

import numpy as np

from . import driver
from .constants import device_svm_capabilities, map_flags, mem_flags, svm_mem_flags
from .driver import wrong
from .handles import expected
from .memory import Buffer, address_of, host_array
from .platforms import Context
from .queues import CommandQueue, Event, NannyEvent, enqueue, waits


class SVMPointer:
    """What kernels take as shared virtual memory: `svm_ptr` and `size`."""

    svm_ptr = size = None

    @property
    def buf(self):
        """The bytes, as an array of NumPy."""
        return np.frombuffer((ctypes.c_char * self.size).from_address(self.svm_ptr), np.uint8)

    def as_buffer(self, ctx, *, flags=None, size=None):
        """A Buffer over the memory."""
        flags = mem_flags.READ_WRITE | mem_flags.USE_HOST_PTR if flags is None else flags
        bytes_ = self.buf if size is None else self.buf[:size]
        return Buffer(ctx, flags | mem_flags.USE_HOST_PTR, hostbuf=bytes_)

    def map(self, queue, *, flags, is_blocking=True, wait_for=None, size=None):
        """Let the host use coarse-grained memory until the result is released.

        Returns
        -------
        SVMMap
        """
        event = _map(queue, self, flags, is_blocking, wait_for, size)
        return SVMMap(self, self._array(), queue, event)

    def map_ro(self, queue, *, is_blocking=True, wait_for=None, size=None):
        """As `map`, for reading."""
        return self.map(
            queue, flags=map_flags.READ, is_blocking=is_blocking, wait_for=wait_for, size=size
        )

    def map_rw(self, queue, *, is_blocking=True, wait_for=None, size=None):
        """As `map`, for reading and writing."""
        flags = map_flags.READ | map_flags.WRITE
        return self.map(queue, flags=flags, is_blocking=is_blocking, wait_for=wait_for, size=size)

    def _enqueue_unmap(self, queue, wait_for=None):
        return enqueue("clEnqueueSVMUnmap", queue, self.svm_ptr, wait_for=wait_for)

    def _array(self):
        return self.buf


def _map(queue, memory, flags, is_blocking, wait_for, size):
    expected(queue, CommandQueue, "enqueue_svm_map")
    made = ctypes.c_void_p()
    driver.call(
        "clEnqueueSVMMap", queue.int_ptr, bool(is_blocking), flags, memory.svm_ptr,
        memory.size if size is None else size, *waits(wait_for), ctypes.byref(made),
    )  # fmt: skip
    return Event._of(made.value)


class SVM(SVMPointer):
    """A NumPy array in shared virtual memory, as an argument of kernels and copies.

    Parameters
    ----------
    mem : numpy.ndarray
        Made by `csvm_empty` and the like, or any array where the device reaches all memory of the host.
    """

    def __init__(self, mem):
        self.mem = mem

    @property
    def svm_ptr(self):
        """Address of the first byte."""
        return address_of(host_array("SVM", self.mem))

    @property
    def size(self):
        """Number of bytes."""
        return host_array("SVM", self.mem).nbytes

    def _array(self):
        return self.mem


class SVMAllocation(SVMPointer):
    """Shared virtual memory that is given back at the end.

    Parameters
    ----------
    ctx : Context
    size, alignment : int
        In bytes; alignment 0 is the driver's.
    flags : int
        Of `svm_mem_flags`.
    queue : CommandQueue, optional
        Behind whose commands the memory is given back.
    """

    def __init__(
        self, ctx, size, alignment=0, flags=svm_mem_flags.READ_WRITE, queue=None, _interface=None
    ):
        if not isinstance(ctx, Context):
            raise TypeError(f"SVMAllocation: expected a Context; got {type(ctx).__name__}")
        size, alignment, flags = (operator.index(n) for n in (size, alignment, flags))
        if not 0 <= size < 2**63 or not 0 <= alignment < 2**32 or not 0 <= flags < 2**63:
            raise wrong(
                "SVMAllocation",
                "INVALID_VALUE",
                f"sizes are not negative; got {size}, {alignment} and flags {flags}",
            )
        self._ctx, self._queue, self.size = ctx, queue, size
        self.svm_ptr = (
            driver.function("clSVMAlloc")(ctx.int_ptr, flags, size, alignment) if size else None
        )
        if size and not self.svm_ptr:
            raise driver.MemoryError(
                f"SVMAllocation: the driver has no {size} bytes of shared virtual memory (flags "
                f"{svm_mem_flags.to_string(flags)}); see Device.svm_capabilities", -4, "clSVMAlloc",
            )  # fmt: skip
        if _interface:
            self.__array_interface__ = {**_interface, "data": (self.svm_ptr, False)}

    def bind_to_queue(self, queue):
        """Let the memory be given back behind the commands of a queue."""
        self._queue = queue

    def unbind_from_queue(self):
        """Wait for the queue; the memory is given back at once from then on."""
        if self._queue is not None:
            self._queue.finish()
        self._queue = None

    def enqueue_release(self, queue=None, wait_for=None):
        """Give the memory back behind the commands of a queue; the event of that."""
        queue = queue or self._queue
        address, self.svm_ptr = self.svm_ptr, None
        table = (ctypes.c_void_p * 1)(address)
        return enqueue("clEnqueueSVMFree", queue, 1, table, None, None, wait_for=wait_for)

    def release(self):
        """Give the memory back."""
        if self.svm_ptr is None and self.size:
            raise wrong("SVMAllocation.release", "INVALID_VALUE", "it was released before")
        if not self.size:
            return
        if self._queue is not None:
            self.enqueue_release()
            return
        address, self.svm_ptr = self.svm_ptr, None
        driver.function("clSVMFree")(self._ctx.int_ptr, address)

    def __del__(self):
        if getattr(self, "svm_ptr", None) and driver is not None and driver._functions:
            self.release()

    def __eq__(self, other):
        return isinstance(other, SVMAllocation) and self.svm_ptr == other.svm_ptr

    def __hash__(self):
        return hash(self.svm_ptr)


class SVMMap:
    """Mapped shared virtual memory; a block's ``as`` is the array."""

    def __init__(self, svm, array, queue, event):
        self.svm, self.array, self.queue, self.event = svm, array, queue, event

    def release(self, queue=None, wait_for=None):
        """Give the memory back to the device; the event of that."""
        event = self.svm._enqueue_unmap(queue or self.queue, wait_for)
        self.svm = None
        return event

    def __enter__(self):
        return self.array

    def __exit__(self, *exception):
        self.release()

    def __del__(self):
        if getattr(self, "svm", None) is not None:
            self.release()


def svm_empty(ctx, flags, shape, dtype, order="C", alignment=None, queue=None):
    """An array of NumPy in shared virtual memory.

    Parameters
    ----------
    ctx : Context
    flags : int
        Of `svm_mem_flags`.
    shape, dtype, order
        As for numpy.empty.
    alignment : int, optional
        In bytes; by default that of the dtype.
    queue : CommandQueue, optional
        As for `SVMAllocation`.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `SVMAllocation`.
    """
    dtype = np.dtype(dtype)
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if order not in "CF":
        raise ValueError(f'svm_empty: order is "C" or "F"; got {order!r}')
    strides = [dtype.itemsize] * len(shape)
    axes = range(1, len(shape)) if order == "F" else range(len(shape) - 2, -1, -1)
    for k in axes:
        near = k - 1 if order == "F" else k + 1
        strides[k] = strides[near] * shape[near]
    interface = {
        "version": 3,
        "shape": shape,
        "typestr": dtype.str,
        "descr": dtype.descr,
        "strides": tuple(strides),
    }
    if dtype.fields is None:
        del interface["descr"]
    size = max(dtype.itemsize * math.prod(shape), 1)
    if alignment is None:
        alignment = 1 << (dtype.itemsize - 1).bit_length() if dtype.itemsize <= 128 else 0
    return np.asarray(SVMAllocation(ctx, size, alignment, flags, queue, interface))


def svm_empty_like(ctx, flags, ary, alignment=None):
    """As `svm_empty`, of the shape, dtype and order of an array."""
    order = "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
    return svm_empty(ctx, flags, ary.shape, ary.dtype, order, alignment)


def csvm_empty(ctx, shape, dtype, order="C", alignment=None, queue=None):
    """Array of NumPy in coarse-grained shared virtual memory, which the host uses while it is mapped."""
    return svm_empty(ctx, svm_mem_flags.READ_WRITE, shape, dtype, order, alignment, queue)


def csvm_empty_like(ctx, ary, alignment=None):
    """As `csvm_empty`, of the shape, dtype and order of an array."""
    return svm_empty_like(ctx, svm_mem_flags.READ_WRITE, ary, alignment)


def fsvm_empty(ctx, shape, dtype, order="C", alignment=None, queue=None):
    """Array of NumPy in fine-grained shared virtual memory, which host and device use without mapping."""
    flags = svm_mem_flags.READ_WRITE | svm_mem_flags.SVM_FINE_GRAIN_BUFFER
    return svm_empty(ctx, flags, shape, dtype, order, alignment, queue)


def fsvm_empty_like(ctx, ary, alignment=None):
    """As `fsvm_empty`, of the shape, dtype and order of an array."""
    flags = svm_mem_flags.READ_WRITE | svm_mem_flags.SVM_FINE_GRAIN_BUFFER
    return svm_empty_like(ctx, flags, ary, alignment)


def enqueue_svm_memfill(queue, dest, pattern, byte_count=None, wait_for=None):
    """Fill shared virtual memory with copies of a pattern, a scalar of NumPy."""
    data = np.asarray(pattern).tobytes()
    dest = dest if isinstance(dest, SVMPointer) else SVM(dest)
    count = dest.size if byte_count is None else byte_count
    return enqueue(
        "clEnqueueSVMMemFill", queue, dest.svm_ptr, data, len(data), count, wait_for=wait_for
    )


def enqueue_svm_migrate_mem(queue, svms, flags, wait_for=None):
    """Move shared virtual memory to the queue's device or, with `mem_migration_flags.HOST`, to the host."""
    addresses = (ctypes.c_void_p * len(svms))(*[s.svm_ptr for s in svms])
    lengths = driver.sizes([s.size for s in svms])
    return enqueue(
        "clEnqueueSVMMigrateMem", queue, len(svms), addresses, lengths, flags, wait_for=wait_for
    )


def svm_copy(queue, dest, src, byte_count=None, wait_for=None, is_blocking=True):
    """Copies between shared virtual memory and shared virtual or host memory."""
    pointers = []
    for side, writable in ((dest, True), (src, False)):
        if not isinstance(side, SVMPointer):
            data = host_array("enqueue_copy", side, writable)
            pointers.append((address_of(data), data.nbytes))
        else:
            if side.svm_ptr is None and side.size:
                raise wrong("enqueue_copy", "INVALID_VALUE", "the memory was released")
            pointers.append((side.svm_ptr, side.size))
    (to, room), (origin, there) = pointers
    count = there if byte_count is None else byte_count
    if count > room or count > there:
        raise wrong(
            "enqueue_copy", "INVALID_VALUE", f"got {count} bytes to copy from {there} to {room}"
        )
    made = ctypes.c_void_p()
    driver.call(
        "clEnqueueSVMMemcpy", queue.int_ptr, bool(is_blocking), to, origin, count, *waits(wait_for), ctypes.byref(made)
    )  # fmt: skip
    if is_blocking:
        return Event._of(made.value)
    event = NannyEvent._of(made.value)
    event._ward = (dest, src)
    return event


def has_capability(device, name):
    """Whether a device has a capability of `device_svm_capabilities`."""
    try:
        return bool(device.svm_capabilities & getattr(device_svm_capabilities, name))
    except driver.Error:
        return False
