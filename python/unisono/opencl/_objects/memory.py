"""Buffers, and copies between them and the host.

A buffer in the context of one of the engine's devices is an array of bytes on that device: the engine counts it and frees
it. One over memory of the host, and one in a context of several devices, is the driver's.
"""

import ctypes
import math
import operator

import numpy as np

from ... import _engine
from . import driver
from .constants import mem_flags, mem_info, mem_object_type
from .driver import call, create, wrong
from .handles import Holder, address_array, decode, texts_of
from .platforms import Context
from .queues import CommandQueue, Event, enqueue, waits
from .tables import add_attributes


def host_array(routine, data, writable=False):
    """NumPy array over the bytes of an object of the host, in one piece."""
    if isinstance(data, _engine._Array):
        data = np.asarray(data)
    if not isinstance(data, np.ndarray):
        data = np.frombuffer(data, np.uint8)
    if not (data.flags.c_contiguous or data.flags.f_contiguous):
        raise ValueError(f"{routine}: the array is not contiguous; use numpy.ascontiguousarray(a)")
    if writable and not data.flags.writeable:
        raise ValueError(
            f"{routine}: the memory of the host cannot be written; got a read-only {type(data).__name__}"
        )
    return data


def address_of(array):
    """Address of a NumPy array's first byte."""
    return array.__array_interface__["data"][0]


class MemoryObjectHolder(Holder):
    """Memory of a device."""

    _retain, _release = "clRetainMemObject", "clReleaseMemObject"

    def context_address(self):
        """Address of its context, asked once."""
        found = self.__dict__.get("_context_address")
        if found is None:
            found = self._context_address = self.context.int_ptr
        return found

    def get_host_array(self, shape, dtype, order="C"):
        """Array of NumPy on the memory of the host that was given with ``USE_HOST_PTR``."""
        if not self.flags & mem_flags.USE_HOST_PTR:
            raise wrong(
                "get_host_array", "INVALID_VALUE", "the buffer was made without USE_HOST_PTR"
            )
        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if math.prod(shape) * dtype.itemsize > self.size:
            raise wrong(
                "get_host_array",
                "INVALID_VALUE",
                f"the buffer has {self.size} bytes; got shape {shape} of {dtype}",
            )
        # The array keeps what has its memory.
        is_plain = dtype.kind != "V"
        self.__array_interface__ = {
            "version": 3,
            "data": (self.host_ptr, False),
            "shape": (math.prod(shape) * (1 if is_plain else dtype.itemsize),),
            "typestr": dtype.str if is_plain else "|u1",
        }
        made = np.asarray(self)
        del self.__array_interface__
        made = made if is_plain else made.view(dtype)
        return made if shape == made.shape else made.reshape(shape, order=order)


class MemoryObject(MemoryObjectHolder):
    """Memory of a device that is given back at the end, or by `release`."""

    hostbuf = None

    def get_info(self, param):
        """What the driver answers to a query, one of `mem_info`."""
        known = self.__dict__.get("_known")
        if known and param in known:
            self.int_ptr  # noqa: B018 - raises if it was released
            return known[param]
        data = driver.answer("clGetMemObjectInfo", self.int_ptr, param)
        if param == mem_info.ASSOCIATED_MEMOBJECT:
            parent = decode(data, MemoryObject)
            is_buffer = parent is not None and parent.type == mem_object_type.BUFFER
            return decode(data, Buffer) if is_buffer else parent
        if param == mem_info.HOST_PTR:
            return int.from_bytes(data, "little") or None
        return decode(data, _kinds.get(param, "u"))

    @property
    def size(self):
        """Number of bytes."""
        known = self.__dict__.get("_known")
        return known[mem_info.SIZE] if known and self._address else self.get_info(mem_info.SIZE)

    def release(self):
        """Give the memory back; the object cannot be used any more."""
        address = self.int_ptr
        self._address = None
        self.__dict__.pop("_array", None)
        call("clReleaseMemObject", address)


_kinds = {
    **texts_of(mem_info, "U FLAGS, z SIZE OFFSET, b USES_SVM_POINTER, *U PROPERTIES"),
    mem_info.CONTEXT: Context,
}
add_attributes(MemoryObject, mem_info)

_drivers_flags = (
    mem_flags.USE_HOST_PTR
    | mem_flags.ALLOC_HOST_PTR
    | mem_flags.HOST_WRITE_ONLY
    | mem_flags.HOST_READ_ONLY
    | mem_flags.HOST_NO_ACCESS
)


class Buffer(MemoryObject):
    """Bytes of a device.

    Parameters
    ----------
    context : Context
    flags : int
        Of `mem_flags`; 0 is ``READ_WRITE``.
    size : int, optional
        Number of bytes; by default that of `hostbuf`.
    hostbuf : array, optional
        What is copied (``COPY_HOST_PTR``), or whose memory is used (``USE_HOST_PTR``).

    Raises
    ------
    LogicError
        If neither is given, the flags contradict each other, or `hostbuf` is smaller than `size`.

    Notes
    -----
    A slice with ends, ``buffer[start:stop]`` in bytes, is a part of it (a sub-buffer).

    Examples
    --------
    >>> import numpy, unisono.opencl as cl
    >>> try:
    ...     context = cl.create_some_context(interactive=False)
    ...     data = numpy.arange(4, dtype=numpy.float32)
    ...     buffer = cl.Buffer(
    ...         context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=data
    ...     )
    ...     assert buffer.size == 16
    ... except cl.Error:
    ...     pass
    """

    def __init__(self, context, flags, size=0, hostbuf=None):
        if not isinstance(context, Context):
            raise TypeError(f"Buffer: expected a Context; got {type(context).__name__}")
        copies = flags & (mem_flags.USE_HOST_PTR | mem_flags.COPY_HOST_PTR)
        data = None
        if hostbuf is not None:
            data = host_array("Buffer", hostbuf, writable=bool(flags & mem_flags.USE_HOST_PTR))
            if not copies:
                import warnings

                warnings.warn(
                    "Buffer: hostbuf is given, but flags have neither COPY_HOST_PTR nor USE_HOST_PTR",
                    stacklevel=2,
                )
            if size > data.nbytes:
                raise wrong(
                    "Buffer", "INVALID_VALUE", f"hostbuf has {data.nbytes} bytes; got size={size}"
                )
            size = size or data.nbytes
        elif copies:
            raise wrong("Buffer", "INVALID_HOST_PTR", "COPY_HOST_PTR and USE_HOST_PTR need hostbuf")
        if size <= 0:
            raise wrong(
                "Buffer", "INVALID_BUFFER_SIZE", f"a buffer has at least one byte; got size={size}"
            )
        name = context._engine_name
        if name is None or flags & _drivers_flags or not _are_valid(flags):
            pointer = address_of(data) if copies else None
            self._address = create("clCreateBuffer", context.int_ptr, flags, size, pointer)
            if flags & mem_flags.USE_HOST_PTR:
                self.hostbuf = hostbuf
        else:
            self._lend(context, flags, size, data if copies else None, name)

    def _lend(self, context, flags, size, data, name):
        """Takes memory of the engine."""
        try:
            if data is None:
                array = _engine._empty((size,), "uint8", name)
            else:
                flat = data.reshape(-1, order="A").view(np.uint8)[:size]
                array = _engine._asarray(flat, None, name, True)
        except MemoryError as error:
            raise driver.MemoryError(str(error), -4, "Buffer") from None
        self._array = array
        self._address, self._offset = _engine._lend_buffer(array)
        call("clRetainMemObject", self._address)
        self._known = {
            mem_info.SIZE: size,
            mem_info.FLAGS: flags or mem_flags.READ_WRITE,
            mem_info.TYPE: mem_object_type.BUFFER,
            mem_info.CONTEXT: context,
            mem_info.HOST_PTR: None,
        }

    def get_sub_region(self, origin, size, flags=0):
        """A part of the buffer.

        Parameters
        ----------
        origin, size : int
            In bytes; `origin` has to be a multiple of the device's ``mem_base_addr_align`` (in bits).
        flags : int

        Returns
        -------
        Buffer
        """
        if origin < 0 or size <= 0 or origin + size > self.size:
            raise wrong(
                "get_sub_region", "INVALID_VALUE",
                f"the buffer has {self.size} bytes; got origin={origin}, size={size}",
            )  # fmt: skip
        step = min(device.mem_base_addr_align for device in self.context.devices) // 8
        if origin % max(step, 1):
            raise wrong(
                "get_sub_region", "MISALIGNED_SUB_BUFFER_OFFSET",
                f"origin has to be a multiple of {step} bytes, the device's mem_base_addr_align; got {origin}",
            )  # fmt: skip
        region = (ctypes.c_size_t * 2)(origin, size)
        part = Buffer._of(
            create(
                "clCreateSubBuffer", self.int_ptr, flags, 0x1220, region
            )  # CL_BUFFER_CREATE_TYPE_REGION
        )
        part._whole = self
        return part

    def __getitem__(self, index):
        if not isinstance(index, slice):
            raise TypeError(f"Buffer: expected a slice of bytes; got {type(index).__name__}")
        start, stop, step = index.indices(self.size)
        if step != 1:
            raise wrong("Buffer", "INVALID_VALUE", f"parts of buffers have step 1; got {step}")
        return self.get_sub_region(start, max(stop - start, 0))


def _are_valid(flags):
    access = flags & (mem_flags.READ_WRITE | mem_flags.READ_ONLY | mem_flags.WRITE_ONLY)
    return access & (access - 1) == 0 and not flags & ~(7 | mem_flags.COPY_HOST_PTR)


class LocalMemory:
    """As an argument of a kernel: so many bytes of local memory for each work-group."""

    __slots__ = ("size",)

    def __init__(self, size):
        self.size = int(size)

    def __repr__(self):
        return f"LocalMemory({self.size})"


class MemoryMap:
    """What a mapped piece of memory is until it is released."""

    def __init__(self, queue, memory, address):
        self._queue, self._memory, self._address = queue, memory, address

    def release(self, queue=None, wait_for=None):
        """Give the memory back to the device; the event of that."""
        if self._address is None:
            raise wrong("MemoryMap.release", "INVALID_VALUE", "it was released before")
        address, self._address = self._address, None
        return enqueue(
            "clEnqueueUnmapMemObject",
            queue or self._queue,
            self._memory.int_ptr,
            address,
            wait_for=wait_for,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def __del__(self):
        if getattr(self, "_address", None) is not None:
            self.release()


class _Mapped:
    """Owner of mapped bytes, the ``base`` of arrays on them: releases them, also at the end of a block."""

    def release(self, queue=None, wait_for=None):
        """Give the memory back to the device; the event of that."""
        return self._mapped.release(queue, wait_for)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()


def array_at(mapped, address, shape, dtype, order, strides):
    """(array, mapped): a NumPy array on mapped memory, and what unmaps it."""
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if strides is None and order == "F":
        strides = tuple(dtype.itemsize * math.prod(shape[:k]) for k in range(len(shape)))
    span = dtype.itemsize * math.prod(shape)
    if strides:
        span = dtype.itemsize + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    data = type("MappedBytes", (_Mapped, ctypes.c_char * max(span, 1)), {}).from_address(address)
    data._mapped = mapped
    return np.ndarray(shape, dtype, data, strides=strides)


def enqueue_map_buffer(
    queue,
    buf,
    flags,
    offset,
    shape,
    dtype,
    order="C",
    strides=None,
    wait_for=None,
    is_blocking=True,
):
    """Let the host see a part of a buffer.

    Parameters
    ----------
    queue : CommandQueue
    buf : Buffer
    flags : int
        Of `map_flags`.
    offset : int
        In bytes.
    shape, dtype, order, strides
        Of the array; strides in bytes.
    wait_for : list of Event, optional
    is_blocking : bool
        Whether to wait until the memory may be used.

    Returns
    -------
    (numpy.ndarray, Event)
        ``array.base`` is released at the end of the array.
    """
    dtype = np.dtype(dtype)
    extent = (shape,) if isinstance(shape, int) else tuple(shape)
    if not isinstance(queue, CommandQueue) or not isinstance(buf, MemoryObjectHolder):
        raise TypeError(
            f"enqueue_map_buffer: expected a CommandQueue and a Buffer; got {type(queue).__name__} and "
            f"{type(buf).__name__}"
        )
    extent, offset = tuple(operator.index(n) for n in extent), operator.index(offset)
    count = dtype.itemsize * math.prod(extent)
    _check_range("enqueue_map_buffer", buf, offset, count)
    made, code = ctypes.c_void_p(), ctypes.c_int32()
    address = driver.function("clEnqueueMapBuffer")(
        queue.int_ptr, buf.int_ptr, bool(is_blocking), flags, offset, count,
        *waits(wait_for), ctypes.byref(made), ctypes.byref(code),
    )  # fmt: skip
    if code.value:
        raise driver.error_of(code.value, "clEnqueueMapBuffer")
    mapped = MemoryMap(queue, buf, address)
    return array_at(mapped, address, extent, dtype, order, strides), Event._of(made.value)


def _check_range(routine, buf, offset, count):
    size = buf.size
    if offset < 0 or count < 0 or offset + count > size:
        raise wrong(
            routine, "INVALID_VALUE",
            f"the buffer has {size} bytes; got {count} bytes at offset {offset}",
        )  # fmt: skip


def read(queue, dest, src, offset, wait_for, is_blocking, byte_count=None):
    """Copies from a buffer to the host."""
    data = host_array("enqueue_copy", dest, writable=True)
    count = data.nbytes if byte_count is None else byte_count
    if count > data.nbytes:
        raise wrong(
            "enqueue_copy",
            "INVALID_VALUE",
            f"the array has {data.nbytes} bytes; got byte_count={count}",
        )
    _check_range("enqueue_copy", src, offset, count)
    if not count:
        return enqueue("clEnqueueMarkerWithWaitList", queue, wait_for=wait_for)
    return enqueue(
        "clEnqueueReadBuffer", queue, src.int_ptr, is_blocking, offset, count, address_of(data),
        wait_for=wait_for, ward=None if is_blocking else dest,
    )  # fmt: skip


def write(queue, dest, src, offset, wait_for, is_blocking, byte_count=None):
    """Copies from the host to a buffer."""
    data = host_array("enqueue_copy", src)
    count = data.nbytes if byte_count is None else byte_count
    if count > data.nbytes:
        raise wrong(
            "enqueue_copy",
            "INVALID_VALUE",
            f"the array has {data.nbytes} bytes; got byte_count={count}",
        )
    _check_range("enqueue_copy", dest, offset, count)
    if not count:
        return enqueue("clEnqueueMarkerWithWaitList", queue, wait_for=wait_for)
    return enqueue(
        "clEnqueueWriteBuffer", queue, dest.int_ptr, is_blocking, offset, count, address_of(data),
        wait_for=wait_for, ward=None if is_blocking else src,
    )  # fmt: skip


def triple(values, fill):
    """Three sizes as C has them."""
    values = [values] if isinstance(values, int) else list(values)
    return (ctypes.c_size_t * 3)(*(values + [fill] * (3 - len(values))))


def _pitches(values, names):
    values = list(values or ())
    if len(values) > 2:
        raise ValueError(f"enqueue_copy: {names} are at most two; got {len(values)}")
    return values + [0] * (2 - len(values))


def check_box(data, region, origin=(0, 0, 0), pitches=(0, 0)):
    """Refuses a box that ends behind the array; the first size, and the pitches, are in bytes."""
    row = pitches[0] or region[0]
    layer = pitches[1] or row * region[1]
    end = (
        sum((o + n - 1) * step for o, n, step in zip(origin, region, (1, row, layer), strict=True))
        + 1
    )
    if 0 not in tuple(region) and end > data.nbytes:
        raise wrong(
            "enqueue_copy", "INVALID_VALUE", f"the region ends at byte {end} of the array, which has {data.nbytes}"
        )  # fmt: skip


def copy_rectangle(queue, dest, src, *, region, wait_for=None, is_blocking=True, **where):
    """Copies a box: between a buffer and the host, or two buffers."""

    def origin(name):
        return triple(where.pop(name, (0,)), 0)

    def pitches(name):
        return _pitches(where.pop(name, None), name)

    region = triple(region, 1)
    if isinstance(dest, MemoryObjectHolder) and isinstance(src, MemoryObjectHolder):
        args = (src.int_ptr, dest.int_ptr, origin("src_origin"), origin("dst_origin"), region)
        args += (*pitches("src_pitches"), *pitches("dst_pitches"))
        _refuse(where)
        return enqueue("clEnqueueCopyBufferRect", queue, *args, wait_for=wait_for)
    reads = isinstance(src, MemoryObjectHolder)
    memory, host = (src, dest) if reads else (dest, src)
    data = host_array("enqueue_copy", host, writable=reads)
    host_origin, host_pitches = origin("host_origin"), pitches("host_pitches")
    check_box(data, region, host_origin, host_pitches)
    args = (memory.int_ptr, is_blocking, origin("buffer_origin"), host_origin, region)
    args += (*pitches("buffer_pitches"), *host_pitches, address_of(data))
    _refuse(where)
    name = "clEnqueueReadBufferRect" if reads else "clEnqueueWriteBufferRect"
    return enqueue(name, queue, *args, wait_for=wait_for, ward=None if is_blocking else host)


def _refuse(left):
    if left:
        raise TypeError(f"enqueue_copy: unknown arguments for these operands: {', '.join(left)}")


def copy_buffers(queue, dest, src, byte_count=None, src_offset=0, dst_offset=0, wait_for=None):
    """Copies between buffers."""
    if byte_count is None or byte_count < 0:
        byte_count = min(src.size - src_offset, dest.size - dst_offset)
    _check_range("enqueue_copy", src, src_offset, byte_count)
    _check_range("enqueue_copy", dest, dst_offset, byte_count)
    return enqueue(
        "clEnqueueCopyBuffer", queue, src.int_ptr, dest.int_ptr, src_offset, dst_offset, byte_count, wait_for=wait_for
    )  # fmt: skip


def enqueue_fill_buffer(queue, mem, pattern, offset, size, wait_for=None):
    """Fill a part of a buffer with copies of a pattern.

    Parameters
    ----------
    queue : CommandQueue
    mem : Buffer
    pattern : NumPy scalar or array
        Of 1, 2, 4, 8, 16, 32, 64 or 128 bytes.
    offset, size : int
        In bytes, multiples of the pattern's size.
    wait_for : list of Event, optional

    Returns
    -------
    Event
    """
    if wait_for is None and isinstance(pattern, np.generic) and isinstance(mem, Buffer):
        event = _engine._fill_buffer(Event, queue, mem, mem.size, pattern, offset, size)
        if type(event) is int:
            raise driver.error_of(event, "clEnqueueFillBuffer")
        if event is not None:
            return event
    data = np.asarray(pattern)
    width = data.nbytes
    if width not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise wrong(
            "enqueue_fill_buffer",
            "INVALID_VALUE",
            f"a pattern has 1, 2, 4, ... or 128 bytes; got {width}",
        )
    if offset % width or size % width:
        raise wrong(
            "enqueue_fill_buffer", "INVALID_VALUE",
            f"offset and size are multiples of the pattern's {width} bytes; got offset={offset}, size={size}",
        )  # fmt: skip
    _check_range("enqueue_fill_buffer", mem, offset, size)
    return enqueue(
        "clEnqueueFillBuffer", queue, mem.int_ptr, data.tobytes(), width, offset, size, wait_for=wait_for
    )  # fmt: skip


def enqueue_migrate_mem_objects(queue, mem_objects, flags=0, wait_for=None):
    """Move memory to the queue's device, or to the host with `mem_migration_flags.HOST`."""
    objects = address_array(mem_objects)
    return enqueue(
        "clEnqueueMigrateMemObjects", queue, len(mem_objects), objects, flags, wait_for=wait_for
    )
