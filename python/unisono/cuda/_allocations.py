"""Memory with the names of PyCUDA's driver: blocks of bytes, addresses in them, and copies."""

from __future__ import annotations

import bisect
import math
import operator
import threading
import weakref

import numpy as np

from .. import _engine
from .._engine import DeviceError
from .devices import current_device

__all__ = [
    "DeviceAllocation", "LogicError", "Memcpy2D", "PointerHolderBase", "PooledDeviceAllocation", "from_device", "from_device_like",
    "mem_alloc", "mem_alloc_like", "mem_alloc_pitch", "mem_get_info", "memcpy_dtod", "memcpy_dtod_async",
    "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htod", "memcpy_htod_async", "memset_d8", "memset_d8_async",
    "memset_d16", "memset_d16_async", "memset_d32", "memset_d32_async", "to_device",
]  # fmt: skip


class LogicError(DeviceError, ValueError):
    """A call that cannot be right: memory that was freed, an address of nothing, sizes that do not fit."""


# Addresses are numbers of our own, by which a block is found again: OpenCL's memory has none. Blocks lie far apart, so
# that a number beyond the end of one is no address of another.
_lock = threading.Lock()
_begins, _blocks = [], []
_next = 1 << 36
_GAP = 1 << 12


def _placed(block, size):
    global _next
    with _lock:
        begin = _next
        _next += -(-max(size, 1) // _GAP) * _GAP + _GAP
        _begins.append(begin)
        _blocks.append(weakref.ref(block))
    weakref.finalize(block, _forget, begin).atexit = False
    return begin


def _forget(begin):
    with _lock:
        k = bisect.bisect_left(_begins, begin)
        if k < len(_begins) and _begins[k] == begin:
            del _begins[k], _blocks[k]


def memory_device():
    """The device on which blocks and arrays are made: the current one, of the interpreter the CPU."""
    device = current_device()
    return _engine._find_device("cpu") if device.name == "interp" else device


class DeviceAllocation:
    """A block of memory on the current device, made by `mem_alloc`; freed with the object, or by `free`.

    ``int(block)`` is its address; ``int(block) + k`` is that of its k-th byte, which kernels and copies take, too. On
    the CPU and on OpenCL devices it is a number of this module, not one of the device.
    """

    def __init__(self, size, bytes_=None):
        import unisono as un

        self._bytes = un.empty(size, "uint8", device=memory_device()) if bytes_ is None else bytes_
        self._size, self._views = size, {}
        self._begin = None

    def _memory(self):
        if self._bytes is None:
            raise LogicError(
                f"DeviceAllocation: the memory was freed; got a block of {self._size} bytes after free(); "
                f"allocate it anew"
            )
        return self._bytes

    @property
    def size(self):
        """Bytes."""
        return self._size

    def free(self):
        """Give the memory back now; later uses raise LogicError."""
        self._memory()
        self._bytes = None
        self._views.clear()

    def as_buffer(self, size=None, offset=0):
        """Memory of devices cannot be read in place."""
        raise LogicError(
            "as_buffer: memory of a device is not the host's; got a DeviceAllocation; copy it with memcpy_dtoh"
        )

    def typed(self, dtype, offset=0):
        """The elements of a dtype from a byte on, as an array."""
        found = self._views.get((dtype, offset))
        if found is None:
            memory = self._memory()
            step = np.dtype(dtype).itemsize
            count = (self._size - offset) // step
            if offset % step:
                raise LogicError(
                    f"DeviceAllocation: elements of {dtype} begin at multiples of {step} bytes; got byte {offset}; "
                    f"add a multiple of that to the address"
                )
            found = memory[offset : offset + count * step].view(dtype)
            if len(self._views) > 64:
                self._views.clear()
            self._views[dtype, offset] = found
        return found

    def __int__(self):
        if self._begin is None:
            self._memory()
            self._begin = _placed(self, self._size)
        return self._begin

    __index__ = __int__

    def __repr__(self):
        state = "freed" if self._bytes is None else f"on {self._bytes.device.name}"
        return f"<{type(self).__name__} of {self._size} bytes, {state}>"


class PooledDeviceAllocation(DeviceAllocation):
    """A block of a `DeviceMemoryPool`; the engine's pool gets its memory back."""


class PointerHolderBase:
    """Base of classes whose ``get_pointer()`` gives an address."""

    def get_pointer(self):
        """The address."""
        raise NotImplementedError("PointerHolderBase: define get_pointer(self) in the class")

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__

    @property
    def gpudata(self):
        """The address."""
        return self.get_pointer()


def found(where, what):
    """(block, byte) that an allocation, array or address means."""
    if isinstance(where, DeviceAllocation):
        where._memory()
        return where, 0
    if isinstance(where, _engine._Array):
        return block_of(where), 0
    if isinstance(where, PointerHolderBase):
        return found(where.get_pointer(), what)
    data = getattr(where, "gpudata", None)
    if data is not None:
        return found(data, what)
    described = getattr(where, "__cuda_array_interface__", None)
    if described is not None:
        where = described["data"][0]
    try:
        number = operator.index(where)
    except TypeError:
        raise TypeError(
            f"{what}: expected memory of a device: a DeviceAllocation, an array of gpuarray, or an address; got "
            f"{type(where).__name__}; copy it there with to_device"
        ) from None
    with _lock:
        k = bisect.bisect_right(_begins, number) - 1
        block = _blocks[k]() if k >= 0 else None
    if block is None or not 0 <= number - block._begin < max(block._size, 1):
        raise LogicError(
            f"{what}: no memory lies at this address; got {number}; expected int() of a DeviceAllocation, or that "
            f"plus an offset within it"
        )
    block._memory()
    return block, number - block._begin


def flat_of(array):
    """The elements of a packed array in the order of its memory."""
    if type(array) is not _engine.ndarray:
        array = array._as_type(_engine.ndarray)
    if array.ndim == 1 and (array.size < 2 or array.strides[0] == array.itemsize):
        return array
    if array.flags.c_contiguous:
        return array.reshape(-1)
    if array.flags.f_contiguous:
        return array.T.reshape(-1)
    raise ValueError(
        f"gpudata: the array's elements do not follow each other; got strides {tuple(array.strides)}; copy it"
    )


def block_of(array):
    """The block that a packed array is."""
    flat = flat_of(array)
    return DeviceAllocation(array.nbytes, flat if flat.dtype == "uint8" else flat.view("uint8"))


def host_bytes(data, what, writes=False):
    """The host's memory of an array or buffer as NumPy bytes."""
    if isinstance(data, np.ndarray):
        if not (data.flags.c_contiguous or data.flags.f_contiguous):
            raise ValueError(
                f"{what}: the array's elements do not follow each other; got strides {data.strides}; copy it"
            )
        if writes and not data.flags.writeable:
            raise ValueError(f"{what}: the array is read-only; got one to be filled; copy it")
        flat = data.reshape(-1) if data.flags.c_contiguous else data.T.reshape(-1)
        return np.asarray(flat).view(np.uint8)
    if isinstance(data, (np.generic, _engine._Array)) and not writes:
        return host_bytes(np.array(data), what)
    try:
        made = np.frombuffer(memoryview(data).cast("B"), np.uint8)
    except TypeError:
        raise TypeError(
            f"{what}: expected an array or buffer of the host; got {type(data).__name__}"
        ) from None
    if writes and not made.flags.writeable:
        raise ValueError(
            f"{what}: the buffer is read-only; got {type(data).__name__}; use a NumPy array"
        )
    return made


def on_stream(stream):
    """A context whose statements go to a stream, or to the device's own queue for None."""
    from contextlib import nullcontext

    return nullcontext() if not stream else stream.statements()


# ---- allocations
def mem_alloc(bytes):
    """A block of memory on the current device; its bytes are undefined.

    Parameters
    ----------
    bytes : int

    Returns
    -------
    DeviceAllocation

    Raises
    ------
    MemoryError
        If the device has not that much.
    LogicError
        If `bytes` is not positive.

    Examples
    --------
    >>> import numpy as np, unisono.cuda.driver as cuda
    >>> a = np.arange(4, dtype=np.float32)
    >>> a_gpu = cuda.mem_alloc(a.nbytes)
    >>> cuda.memcpy_htod(a_gpu, a)
    >>> back = np.empty_like(a)
    >>> cuda.memcpy_dtoh(back, a_gpu)
    >>> back.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    size = operator.index(bytes)
    if size <= 0:
        raise LogicError(f"mem_alloc: a block has bytes; got {size}; give a positive number")
    return DeviceAllocation(size)


def mem_alloc_like(ary):
    """A block of as many bytes as an array has."""
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width, height, access_size=4):
    """(block, bytes from row to row) of a matrix whose rows begin at multiples of 512 bytes."""
    pitch = -(-operator.index(width) // 512) * 512
    return mem_alloc(pitch * operator.index(height)), pitch


def mem_get_info():
    """(bytes that are free, all bytes) of the current device."""
    from .devices import _in_use

    device = memory_device()
    total = device.memory_bytes or (1 << 40)
    return max(total - _in_use(device), 0), total


# ---- copies
def _fits(block, offset, size, what):
    if offset + size > block._size:
        raise LogicError(
            f"{what}: the memory is too small; got {size} bytes for a block of {block._size} from byte {offset} on; "
            f"allocate more"
        )


def memcpy_htod(dest, src):
    """Copy an array of the host to the device.

    Parameters
    ----------
    dest : DeviceAllocation, array or int
    src : array or buffer
        Contiguous; all its bytes are copied.

    Raises
    ------
    LogicError
        If the block is too small, was freed, or lies nowhere.
    """
    _to_device(dest, src, None, "memcpy_htod")


def memcpy_htod_async(dest, src, stream=None):
    """`memcpy_htod` behind what a stream was given; `src` is not to be changed before that is done."""
    _to_device(dest, src, stream, "memcpy_htod_async")


def _to_device(dest, src, stream, what):
    given = host_bytes(src, what)
    block, offset = found(dest, what)
    _fits(block, offset, given.size, what)
    if given.size:
        memory = block._memory()
        if memory.device.name == "interp":  # a variable of a text
            import unisono as un

            given = un.asarray(given, device="interp")
        with on_stream(stream):
            memory[offset : offset + given.size] = given


def memcpy_dtoh(dest, src):
    """Copy memory of the device into an array of the host, whose size decides how much.

    Parameters
    ----------
    dest : numpy.ndarray or writable buffer
    src : DeviceAllocation, array or int

    Raises
    ------
    LogicError
        If the block is too small, was freed, or lies nowhere.
    """
    filled, memory = _from_device(dest, src, "memcpy_dtoh")
    filled[...] = memory


def _from_device(dest, src, what):
    filled = host_bytes(dest, what, writes=True)
    block, offset = found(src, what)
    _fits(block, offset, filled.size, what)
    return filled, block._memory()[offset : offset + filled.size]


def memcpy_dtoh_async(dest, src, stream=None):
    """`memcpy_dtoh` behind what a stream was given; `dest` is filled once the stream, or a later event, was waited for."""
    filled, memory = _from_device(dest, src, "memcpy_dtoh_async")
    if not stream or stream._queue is None:
        filled[...] = memory
        return
    with stream.statements():
        stream.fill_later(filled, memory.to_device("cpu"))


def memcpy_dtod(dest, src, size):
    """Copy bytes from device to device."""
    _between(dest, src, size, None, "memcpy_dtod")


def memcpy_dtod_async(dest, src, size, stream=None):
    """`memcpy_dtod` behind what a stream was given."""
    _between(dest, src, size, stream, "memcpy_dtod_async")


def _between(dest, src, size, stream, what):
    size = operator.index(size)
    to, start = found(dest, what)
    of, begin = found(src, what)
    _fits(to, start, size, what)
    _fits(of, begin, size, what)
    with on_stream(stream):
        given = of._memory()[begin : begin + size]
        if given.device != to._memory().device:
            given = given.to_device(to._memory().device)
        to._memory()[start : start + size] = given


def to_device(bf_obj):
    """A new block with a copy of an array or buffer.

    Examples
    --------
    >>> import numpy as np, unisono.cuda.driver as cuda
    >>> block = cuda.to_device(np.arange(3))
    >>> cuda.from_device(block, 3, int)
    array([0, 1, 2])
    """
    made = mem_alloc(host_bytes(bf_obj, "to_device").size)
    memcpy_htod(made, bf_obj)
    return made


def from_device(devptr, shape, dtype, order="C"):
    """A NumPy array with a copy of the device's memory.

    Parameters
    ----------
    devptr : DeviceAllocation, array or int
    shape : int or tuple of int
    dtype : dtype
    order : {"C", "F"}
    """
    made = np.empty(shape, dtype, order)
    memcpy_dtoh(made, devptr)
    return made


def from_device_like(devptr, other_ary):
    """`from_device` with the shape and dtype of another array."""
    made = np.empty_like(other_ary)
    memcpy_dtoh(made, devptr)
    return made


def _setter(bits):
    kind = f"uint{bits}"

    def fill(dest, data, count, stream=None):
        block, offset = found(dest, f"memset_d{bits}")
        count = operator.index(count)
        _fits(block, offset, count * bits // 8, f"memset_d{bits}")
        with on_stream(stream):
            value = operator.index(data) & (2**bits - 1)
            block.typed(kind, offset)[:count] = np.array(value, kind)

    fill.__name__ = fill.__qualname__ = f"memset_d{bits}"
    fill.__doc__ = f"Fill `count` numbers of {bits} bits with a value."
    return fill


memset_d8, memset_d16, memset_d32 = (_setter(n) for n in (8, 16, 32))
memset_d8_async, memset_d16_async, memset_d32_async = memset_d8, memset_d16, memset_d32


class Memcpy2D:
    """Copies of rectangles: set the source, the destination, pitches and sizes, and call it.

    `width_in_bytes` and `height` are the rectangle's, `src_pitch` and `dst_pitch` bytes from row to row, and
    `src_x_in_bytes`, `src_y`, `dst_x_in_bytes`, `dst_y` where it begins.
    """

    def __init__(self):
        self.src_x_in_bytes = self.src_y = self.dst_x_in_bytes = self.dst_y = 0
        self.src_pitch = self.dst_pitch = self.width_in_bytes = self.height = 0
        self._src = self._dst = None

    def set_src_host(self, buffer):
        """Copy from an array of the host."""
        self._src = host_bytes(buffer, "Memcpy2D.set_src_host")

    def set_src_device(self, devptr):
        """Copy from the device."""
        self._src = devptr

    def set_dst_host(self, buffer):
        """Copy into an array of the host."""
        self._dst = host_bytes(buffer, "Memcpy2D.set_dst_host", writes=True)

    def set_dst_device(self, devptr):
        """Copy to the device."""
        self._dst = devptr

    def set_src_array(self, array):
        """Copy from an `Array`."""
        self._src, self.src_pitch = array.gpudata, array._elements.strides[0]

    def set_dst_array(self, array):
        """Copy into an `Array`."""
        self._dst, self.dst_pitch = array.gpudata, array._elements.strides[0]

    def _rows(self, side, pitch, x, y, name):
        if side is None:
            raise LogicError(
                f"Memcpy2D: {name} is not set; got None; call set_{name}_device or set_{name}_host"
            )
        pitch = pitch or self.width_in_bytes
        begin = y * pitch + x
        span = (self.height - 1) * pitch + self.width_in_bytes
        if isinstance(side, np.ndarray):
            memory, size = side, side.size
        else:
            block, offset = found(side, "Memcpy2D")
            memory, size, begin = block._memory(), block._size, begin + offset
        if begin + span > size:
            raise LogicError(
                f"Memcpy2D: the rectangle ends beyond {name}; got byte {begin + span} of {size}; check pitch and height"
            )
        shape, strides = (self.height, self.width_in_bytes), (pitch, 1)
        if isinstance(memory, np.ndarray):
            return np.lib.stride_tricks.as_strided(memory[begin:], shape, strides)
        from ..lib.stride_tricks import as_strided

        return as_strided(memory[begin:], shape, strides)

    def __call__(self, stream=None, aligned=False):
        """Copy."""
        if self.width_in_bytes <= 0 or self.height <= 0:
            return
        src = self._rows(self._src, self.src_pitch, self.src_x_in_bytes, self.src_y, "src")
        dst = self._rows(self._dst, self.dst_pitch, self.dst_x_in_bytes, self.dst_y, "dst")
        with on_stream(stream if not isinstance(stream, bool) else None):
            dst[...] = src


def size_of(shape):
    """Number of elements of a shape."""
    return math.prod(shape) if isinstance(shape, (tuple, list)) else operator.index(shape)
