"""Memory that objects describe in DLPack's words, with elements that are no dtype of ours: only its bytes travel."""

import ctypes


class Described:
    """Memory in NumPy's words, and what keeps it."""

    def __init__(self, told, owner):
        self.__array_interface__ = told
        self.owner = owner


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h, at the beginning of a DLManagedTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_CPU = 1
# By code, bits and lanes. 256 bits do not fit in the field, where they are 0; or a complex number is two lanes.
_NAMES = {
    (2, 128, 1): "longdouble",
    (2, 128, 2): "clongdouble",
    (5, 0, 1): "clongdouble",
}


def array_of(buffer):
    """An array of NumPy's on the memory of long double or of complex numbers of it; None where it is another's, or a device's."""
    import numpy

    capsule = buffer.__dlpack__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    name = _NAMES.get((tensor.code, tensor.bits, tensor.lanes))
    if name is None or tensor.device_type != _CPU:
        return None
    dtype = numpy.dtype(name)
    told = {
        "version": 3,
        "typestr": dtype.str,
        "shape": tuple(tensor.shape[: tensor.ndim]),
        "data": ((tensor.data or 0) + tensor.byte_offset, False),
    }
    if tensor.strides:
        told["strides"] = tuple(n * dtype.itemsize for n in tensor.strides[: tensor.ndim])
    # The capsule was not consumed: it frees what it holds when the last array on the memory is gone.
    return numpy.asarray(Described(told, (capsule, buffer)))
