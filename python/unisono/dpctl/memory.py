"""``dpctl.memory``: unified shared memory: bytes of a device, shared with the host, or the host's."""

from __future__ import annotations

import numpy as np

from .. import _engine
from ..cuda._allocations import flat_of, host_bytes
from ._devices import SyclContext
from ._queues import SyclQueue, get_device_cached_queue

__all__ = [
    "MemoryUSMDevice",
    "MemoryUSMHost",
    "MemoryUSMShared",
    "USMAllocationError",
    "as_usm_memory",
]


class USMAllocationError(MemoryError):
    """Memory that there is not."""


class _Memory:
    """Bytes.

    Parameters
    ----------
    other : int or memory
        How many; or memory, or an object with ``__sycl_usm_array_interface__``, whose bytes are shared, or copied.
    alignment : int
        Without effect: memory begins at multiples of 64 at least.
    queue : SyclQueue, optional
        By default one of the default device.
    copy : bool
        Whether memory given is copied.

    Raises
    ------
    ValueError
        If the number is not positive.
    USMAllocationError
        If the device has no such memory.

    Examples
    --------
    >>> from unisono import dpctl
    >>> import unisono.dpctl.memory
    >>> m = dpctl.memory.MemoryUSMShared(4, queue=dpctl.SyclQueue("cpu"))
    >>> m.copy_from_host(b"abcd")
    >>> m.tobytes()
    b'abcd'
    """

    _kind = "device"
    reference_obj = None  # what it shares its bytes with

    def __init__(self, other, *, alignment=0, queue=None, copy=False):
        import unisono as un

        source = None
        if hasattr(other, "__sycl_usm_array_interface__"):
            source = as_usm_memory(other)
            kind = source._kind if isinstance(other, (_Memory, _engine._Array)) else self._kind
            is_here = queue is None or queue._device == source.sycl_queue._device
            if not copy and kind == self._kind and is_here:
                self.sycl_queue, self._bytes = queue or source.sycl_queue, source._bytes
                self.reference_obj = None if isinstance(other, _Memory) else other
                return
            if not copy and kind != self._kind:
                raise ValueError(
                    f"{type(self).__name__}: memory of the kind {kind!r} is not shared; got copy=False; expected copy=True, "
                    f"or the class of that kind"
                )
            other = source.nbytes
            queue = queue or source.sycl_queue
        nbytes = int(other)
        if nbytes <= 0:
            raise ValueError(
                f"{type(self).__name__}: memory has bytes; got {nbytes}; give a positive number"
            )
        if queue is not None and not isinstance(queue, SyclQueue):
            raise TypeError(
                f"{type(self).__name__}: expected a SyclQueue; got {type(queue).__name__}"
            )
        self.sycl_queue = queue or get_device_cached_queue(None)
        device = self.sycl_queue._device
        try:
            options = {} if device.name == "cpu" else {"memory": self._kind}
            self._bytes = un.empty(nbytes, "uint8", device=device, **options)
        except _engine.DeviceError as error:
            raise USMAllocationError(f"{type(self).__name__}: {error}") from None
        if source is not None:
            self.copy_from_device(source)

    @classmethod
    def _over(cls, array, queue):
        self = object.__new__(cls)
        self.sycl_queue, self._bytes = queue, array
        return self

    nbytes = property(lambda self: self._bytes.size, doc="How many bytes.")
    size = nbytes
    sycl_device = property(lambda self: self.sycl_queue.sycl_device, doc="Of its queue.")
    sycl_context = property(lambda self: self.sycl_queue.sycl_context, doc="Of its queue.")

    def get_usm_type(self, syclobj=None):
        """ "device", "shared" or "host", to a queue or a context."""
        if not isinstance(syclobj, (type(None), SyclQueue, SyclContext)):
            raise TypeError(
                f"get_usm_type: expected a SyclQueue or SyclContext; got {type(syclobj).__name__}"
            )
        return self._kind

    def get_usm_type_enum(self, syclobj=None):
        """SYCL's number of the kind: 1 for "device", 2 for "shared", 3 for "host"."""
        return ("device", "shared", "host").index(self.get_usm_type(syclobj)) + 1

    _pointer = property(lambda self: self._bytes.data.ptr, doc="Address of the first byte.")

    @property
    def __sycl_usm_array_interface__(self):
        return {
            "data": (self._pointer, False),
            "shape": (self.nbytes,),
            "strides": None,
            "typestr": "|u1",
            "version": 1,
            "syclobj": self.sycl_queue,
            "offset": 0,
        }

    def copy_to_host(self, obj=None):
        """The bytes in a buffer, by default a new array of uint8."""
        if obj is None:
            obj = np.empty(self.nbytes, np.uint8)
        filled = host_bytes(obj, "copy_to_host", writes=True)
        if filled.size > self.nbytes:
            raise ValueError(
                f"copy_to_host: the buffer is larger; got {filled.size} bytes; expected up to {self.nbytes}"
            )
        filled[...] = self._bytes[: filled.size]
        return obj

    def copy_from_host(self, obj):
        """Copy a buffer of the host."""
        given = host_bytes(obj, "copy_from_host")
        if given.size > self.nbytes:
            raise ValueError(
                f"copy_from_host: the buffer is larger; got {given.size} bytes; expected up to {self.nbytes}"
            )
        self._bytes[: given.size] = given

    def copy_from_device(self, sycl_usm_obj):
        """Copy other memory."""
        given = as_usm_memory(sycl_usm_obj)._bytes
        if given.size > self.nbytes:
            raise ValueError(
                f"copy_from_device: the memory is larger; got {given.size} bytes; expected up to {self.nbytes}"
            )
        if given.device != self._bytes.device:
            given = given.to_device(self._bytes.device)
        self._bytes[: given.size] = given

    def memset(self, val=0):
        """Set all bytes."""
        self._bytes[...] = int(val) & 255

    def tobytes(self):
        """The bytes."""
        return self.copy_to_host().tobytes()

    __bytes__ = tobytes

    def __len__(self):
        return self.nbytes

    def __reduce__(self):
        return _restored, (type(self), self.tobytes())

    def __repr__(self):
        return f"<unisono.dpctl.memory.{type(self).__name__} of {self.nbytes} bytes, {self.sycl_device.filter_string}>"


def _restored(kind, given):
    made = kind(len(given))
    made.copy_from_host(given)
    return made


class MemoryUSMDevice(_Memory):
    __doc__ = (_Memory.__doc__ or "").replace("Bytes.\n", "Bytes of a device.\n", 1)


class _Seen(_Memory, _engine._BufferOfArray):
    _has_format = True

    @property
    def __array_interface__(self):
        self.sycl_queue.wait()
        return np.asarray(self._bytes).__array_interface__

    def __array__(self, dtype=None, copy=None):
        self.sycl_queue.wait()
        seen = np.asarray(self._bytes)
        return seen if dtype is None and not copy else np.array(seen, dtype, copy=copy)


class MemoryUSMShared(_Seen):
    __doc__ = (_Memory.__doc__ or "").replace(
        "Bytes.\n", "Bytes that host and device share: ``np.asarray(m)``.\n", 1
    )
    _kind = "shared"


class MemoryUSMHost(_Seen):
    __doc__ = (_Memory.__doc__ or "").replace(
        "Bytes.\n", "Bytes of the host that the device can use: ``np.asarray(m)``.\n", 1
    )
    _kind = "host"


_kinds = {
    "device": MemoryUSMDevice,
    "shared": MemoryUSMShared,
    "host": MemoryUSMHost,
    "pinned": MemoryUSMHost,
}


def as_usm_memory(obj):
    """The memory of an array, or memory itself.

    Raises
    ------
    TypeError
        For anything else.
    """
    if isinstance(obj, _Memory):
        return obj
    if isinstance(obj, _engine._Array):
        from .tensor import queue_of

        flat = flat_of(obj)
        made = flat if flat.dtype == "uint8" else flat.view("uint8")
        kind = getattr(obj, "usm_type", obj.memory)
        return _kinds[kind]._over(made, getattr(obj, "sycl_queue", None) or queue_of(obj))
    if hasattr(obj, "__sycl_usm_array_interface__"):
        return _described(obj)
    raise TypeError(f"as_usm_memory: expected memory or an array; got {type(obj).__name__}")


def _described(obj):
    """The memory of the host that an object's ``__sycl_usm_array_interface__`` tells, from its first byte to its last."""
    told = obj.__sycl_usm_array_interface__
    try:
        queue, size = told["syclobj"], np.dtype(told["typestr"]).itemsize
        shape, (address, _) = told["shape"], told["data"]
        strides = told.get("strides") or np.cumprod((1, *shape[:0:-1]))[::-1]
        reach = [(n - 1) * int(s) for n, s in zip(shape, strides, strict=True)]
        first = told.get("offset", 0) + sum(r for r in reach if r < 0)
        count = sum(map(abs, reach)) + 1 if all(shape) else 0
        address = int(address) + first * size
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"as_usm_memory: the object's memory is not described; {error}") from None
    if not isinstance(queue, SyclQueue) or queue._device.name != "cpu":
        raise ValueError(
            f"as_usm_memory: only memory of the host is taken by its address; got syclobj {queue!r}; pass the array itself"
        )
    if not count or not address:
        raise ValueError(f"as_usm_memory: memory has bytes; got shape {shape} at address {address}")
    import ctypes

    held = (ctypes.c_ubyte * (count * size)).from_address(address)
    held.owner = obj
    import unisono as un

    return MemoryUSMDevice._over(un.frombuffer(held, "uint8"), queue)


def part_of(obj, count, name, writes=False):
    """The first bytes of memory or of a buffer of the host, as an array."""
    is_ours = isinstance(obj, (_Memory, _engine._Array))
    whole = as_usm_memory(obj)._bytes if is_ours else host_bytes(obj, f"memcpy: {name}", writes)
    if not 0 <= count <= whole.size:
        raise ValueError(
            f"memcpy: {name} has {whole.size} bytes; got {count}; give up to that many"
        )
    return whole[:count]
