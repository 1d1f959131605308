"""A small library of arrays on CUDA devices, on the driver of tests: memory and streams of its own.

It never waits for anybody but as the protocols say, so the driver finds what is not ordered.
"""

import contextlib
import ctypes as C

import driver_of_tests
import numpy as np

driver = driver_of_tests.find()


def call(name, *arguments):
    result = getattr(driver.library, name)(*arguments)
    assert result == 0, f"{name}: {result}: {driver.last_violation()}"


def made(name, *arguments, type=C.c_void_p):
    value = type()
    call(name, C.byref(value), *arguments)
    return value.value


@contextlib.contextmanager
def entered(device):
    """The primary context of the device is the current one."""
    call("cuInit", 0)
    call("cuCtxPushCurrent_v2", C.c_void_p(made("cuDevicePrimaryCtxRetain", device)))
    try:
        yield
    finally:
        call("cuCtxPopCurrent_v2", None)


def synchronize(device, handle):
    """Wait for a stream of the device, whosever it is."""
    with entered(device):
        call("cuStreamSynchronize", C.c_void_p(handle))


class Stream:
    def __init__(self, device=0):
        self.device = device
        with entered(device):
            self.handle = made("cuStreamCreate", 1)

    def synchronize(self):
        synchronize(self.device, self.handle)

    def wait_for(self, handle):
        """What this stream is given later comes behind what the other one was given."""
        with entered(self.device):
            event = C.c_void_p(made("cuEventCreate", 2))
            call("cuEventRecord", event, C.c_void_p(handle))
            call("cuStreamWaitEvent", C.c_void_p(self.handle), event, 0)


class Array:
    """Elements of a NumPy array, on their way to the device on a stream."""

    def __init__(self, values, stream):
        self.stream, self.shape, self.dtype = stream, values.shape, values.dtype
        self.strides, self.bytes = values.strides, values.nbytes
        self.readonly, self.has_died = False, False
        with entered(stream.device):
            self.address = made("cuMemAlloc_v2", C.c_size_t(self.bytes), type=C.c_uint64)
            self._pinned = made("cuMemHostAlloc", C.c_size_t(self.bytes), 0)
            C.memmove(self._pinned, values.ctypes.data, self.bytes)
            self._copy("cuMemcpyHtoDAsync_v2", C.c_uint64(self.address), C.c_void_p(self._pinned))

    def _copy(self, name, to, from_):
        call(name, to, from_, C.c_size_t(self.bytes), C.c_void_p(self.stream.handle))

    def take(self, address):
        """Copy from an address of a device, on this array's stream."""
        with entered(self.stream.device):
            self._copy("cuMemcpyDtoDAsync_v2", C.c_uint64(self.address), C.c_uint64(address))

    def give(self, address):
        """Copy to an address of a device."""
        with entered(self.stream.device):
            self._copy("cuMemcpyDtoDAsync_v2", C.c_uint64(address), C.c_uint64(self.address))

    def values(self):
        with entered(self.stream.device):
            self._copy("cuMemcpyDtoHAsync_v2", C.c_void_p(self._pinned), C.c_uint64(self.address))
        self.stream.synchronize()
        data = C.string_at(self._pinned, self.bytes)
        return np.frombuffer(data, self.dtype).reshape(self.shape)


class ByInterface(Array):
    version, mask = 3, None

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, self.readonly),
            "strides": None,
            "stream": self.stream.handle,
            "version": 3,
            "mask": self.mask,
        }


class _Tensor(C.Structure):
    _fields_ = [
        ("data", C.c_void_p), ("device", C.c_int32 * 2), ("ndim", C.c_int32),
        ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
        ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)), ("offset", C.c_uint64),
    ]  # fmt: skip


class _Managed(C.Structure):
    pass


_deleter = C.CFUNCTYPE(None, C.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", C.c_void_p), ("deleter", _deleter)]


class ByDLPack(Array):
    """Exports plain tensors, and imports ours."""

    def __dlpack_device__(self):
        return (2, self.stream.device)

    def __dlpack__(self, stream=None, **options):
        self.asked = stream
        if stream != -1:
            other = Stream.__new__(Stream)
            other.device, other.handle = self.stream.device, stream
            other.wait_for(self.stream.handle)
        code = {"f": 2, "i": 0, "u": 1}[self.dtype.kind]
        shape = (C.c_int64 * len(self.shape))(*self.shape)
        managed = _Managed(
            _Tensor(
                self.address,
                (2, self.stream.device),
                len(self.shape),
                code,
                8 * self.dtype.itemsize,
                1,
                shape,
            )
        )

        def drop(pointer):
            self.has_died = True

        managed.deleter = _deleter(drop)
        self._kept = managed, shape
        new = C.pythonapi.PyCapsule_New
        new.restype, new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
        return new(C.addressof(managed), b"dltensor", None)


def tensor_of(capsule):
    """Address, shape and device of a plain capsule; it is used up, and its tensor given back by the second value."""
    get = C.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
    managed = C.cast(get(capsule, b"dltensor"), C.POINTER(_Managed)).contents
    name = C.pythonapi.PyCapsule_SetName
    name.argtypes = [C.py_object, C.c_char_p]
    name(capsule, b"used_dltensor")
    t = managed.tensor
    return t.data + t.offset, lambda: managed.deleter(C.byref(managed)), tuple(t.device)
