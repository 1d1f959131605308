"""Arrays of records that compiled functions return."""

import functools

from .records import RecordArray
from .strided_memory import Memory


@functools.cache
def _dtype(text, kind=None):
    """The dtype that NumPy writes so, whose elements are of the class `kind`, ``numpy.void`` where none is given.

    Compiled code holds recarrays, which NumPy writes as ``(numpy.record, fields)``, for what they are made of.
    """
    import numpy

    fields = eval(text, {"numpy": numpy})
    if isinstance(fields, tuple):
        fields = fields[1]
    return numpy.dtype((kind or numpy.void, fields))


def made(octets, text):
    """Records in an array of bytes, whose last axis is one of them."""
    import numpy

    return _ours(numpy.asarray(octets).view(_dtype(text))[..., 0])


def view_of(owner, text, address, shape, strides):
    """Records at an address in the memory of a structured array or of a record."""
    import numpy

    dtype = _dtype(text, owner.dtype.type)
    held = _Memory(owner, dtype.itemsize, address, shape, strides)
    return _ours(numpy.asarray(held).view(dtype))


def _ours(records):
    if records.ndim == 0:
        return records[()]
    memory, offset = Memory.of_numpy(records)
    shape, strides = records.shape, records.strides
    return RecordArray(memory, records.dtype, shape, strides, offset, not records.flags.writeable)


class _Memory:
    """What NumPy asks for an array at an address, which keeps the owner of the memory."""

    def __init__(self, owner, itemsize, address, shape, strides):
        import numpy

        self.owner = owner
        readonly = not numpy.asarray(owner).flags.writeable
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{itemsize}",
            "data": (address, readonly),
        }
