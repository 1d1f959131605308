"""Textures with PyCUDA's names: what ``texture<float, 2> name;`` of CUDA C text reads, on every device."""

from __future__ import annotations

import operator

import numpy as np

from .._engine import _Array
from .._raw.textures import CLAMP, how_it_is_read, packed_texture
from ._allocations import LogicError, block_of, found, memory_device

__all__ = [
    "Array", "ArrayDescriptor", "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER", "TR_DEFAULT", "TextureReference",
    "address_mode", "array_format", "bind_array_to_texref", "dtype_to_array_format", "filter_mode", "gpuarray_to_array", "matrix_to_array",
    "matrix_to_texref", "np_to_array",
]  # fmt: skip

TR_DEFAULT, TRSF_READ_AS_INTEGER, TRSF_NORMALIZED_COORDINATES = -1, 1, 2


class array_format:
    """Types of the elements of an `Array`; their values are CUDA's."""

    UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32 = 1, 2, 3
    SIGNED_INT8, SIGNED_INT16, SIGNED_INT32 = 8, 9, 10
    HALF, FLOAT = 16, 32


_DTYPES = {1: "uint8", 2: "uint16", 3: "uint32", 8: "int8", 9: "int16", 10: "int32", 16: "float16", 32: "float32"}  # fmt: skip


def dtype_to_array_format(dtype):
    """The `array_format` of a dtype.

    Raises
    ------
    TypeError
        If textures have no such elements.
    """
    name = np.dtype(str(dtype)).name
    found = next((k for k, d in _DTYPES.items() if d == name), None)
    if found is None:
        raise TypeError(
            f"textures have no {name}; got an array of it; convert it with astype('float32')"
        )
    return found


class address_mode:
    """What coordinates out of range mean; wrap and mirror are for normalised ones, and else clamp."""

    WRAP, CLAMP, MIRROR, BORDER = range(4)


class filter_mode:
    """The nearest element, or a mean of those around."""

    POINT, LINEAR = range(2)


class ArrayDescriptor:
    """Shape and elements of an `Array`: `width`, `height`, `format` of `array_format`, `num_channels`."""

    width = height = 0
    format, num_channels = array_format.FLOAT, 1


def _one_channel(count, what):
    if count != 1:
        raise LogicError(
            f"{what}: textures have one channel; got {count}; make one texture for each channel"
        )


class Array:
    """Memory of a texture along one to three axes; filled by `Memcpy2D`, or made by `matrix_to_array`.

    Parameters
    ----------
    descriptor : ArrayDescriptor
    """

    def __init__(self, descriptor):
        import unisono as un

        _one_channel(descriptor.num_channels, "Array")
        shape = (descriptor.height, descriptor.width) if descriptor.height else (descriptor.width,)
        self._elements = un.zeros(shape, _DTYPES[descriptor.format], device=memory_device())

    @classmethod
    def _of(cls, values, order, what):
        import unisono as un

        if order not in ("C", "F"):
            raise LogicError(
                f"{what}: the order of a matrix is 'C' or 'F'; got {order!r}; give one"
            )
        if not 1 <= values.ndim <= 3:
            raise LogicError(
                f"{what}: textures have one to three axes; got {values.ndim}; reshape it"
            )
        made = cls.__new__(cls)
        values = values if order == "C" else values.T
        dtype_to_array_format(values.dtype)  # or it says which there are
        made._elements = un.array(values, order="C", device=memory_device())
        return made

    def get_descriptor(self):
        """The ArrayDescriptor."""
        made, shape = ArrayDescriptor(), self._elements.shape
        made.width, made.height = shape[-1], shape[-2] if len(shape) > 1 else 0
        made.format = dtype_to_array_format(self._elements.dtype)
        return made

    def free(self):
        """Give the memory back with the object."""

    @property
    def gpudata(self):
        """The elements as a block."""
        return block_of(self._elements)


class TextureReference:
    """A texture of a text, given by ``module.get_texref(name)``: bind memory to it, and say how it is read.

    Kernels read what the memory has when they are launched. Elements are float32 for kernels, as are the weights of
    linear filters.
    """

    def __init__(self, name, declared):
        self.name, self._declared = name, declared
        self._bound, self._modes = None, [CLAMP] * 3
        self._filter = self._flags = 0
        self._format = declared.element.base

    def set_array(self, array):
        """Read an `Array`."""
        self._bound = lambda: array._elements

    def get_array(self):
        """There is no way back from a texture to its memory."""
        raise LogicError(
            f"texture '{self.name}': get_array is not there; got a call; keep the Array"
        )

    def set_address(self, devptr, bytes, allow_offset=False):
        """Read elements in a row from an address on; returns 0, the byte of the first one.

        Parameters
        ----------
        devptr : DeviceAllocation, array or int
        bytes : int
        """
        block, offset = found(devptr, f"texture '{self.name}'")
        count = operator.index(bytes) // np.dtype(self._format).itemsize
        self._bound = lambda: block.typed(self._format, offset)[:count]
        return 0

    def set_address_2d(self, devptr, descr, pitch):
        """Read rows that begin at multiples of so many bytes.

        Parameters
        ----------
        devptr : DeviceAllocation, array or int
        descr : ArrayDescriptor
        pitch : int
        """
        from ..lib.stride_tricks import as_strided

        _one_channel(descr.num_channels, f"texture '{self.name}'")
        block, offset = found(devptr, f"texture '{self.name}'")
        dtype, shape = np.dtype(_DTYPES[descr.format]), (descr.height, descr.width)
        self._bound = lambda: as_strided(
            block.typed(dtype.name, offset), shape, (pitch, dtype.itemsize)
        )

    def set_format(self, fmt, num_components):
        """Say the type of elements in memory that `set_address` binds."""
        _one_channel(num_components, f"texture '{self.name}'")
        self._format = _DTYPES[fmt]

    def get_format(self):
        """(`array_format`, channels)."""
        return dtype_to_array_format(self._format), 1

    def set_address_mode(self, dim, mode):
        """What coordinates out of range mean along an axis."""
        self._modes[dim] = mode

    def get_address_mode(self, dim):
        """What was set."""
        return self._modes[dim]

    def set_filter_mode(self, mode):
        """The nearest element, or a mean of those around."""
        self._filter = mode

    def get_filter_mode(self):
        """What was set."""
        return self._filter

    def set_flags(self, flags):
        """`TRSF_NORMALIZED_COORDINATES`: coordinates reach from 0 to 1."""
        self._flags = flags

    def get_flags(self):
        """What was set."""
        return self._flags

    def memory(self, device):
        """What kernels get: see `unisono._raw.textures`."""
        import unisono as un

        if self._bound is None:
            raise LogicError(
                f"texture '{self.name}': no memory is bound to it; got a launch that reads it; call set_array, "
                f"set_address or matrix_to_texref first"
            )
        elements = self._bound()
        largest = 1
        if self._declared.value.base == "float32" and elements.dtype.name != "float32":
            largest = np.iinfo(elements.dtype.name).max  # cudaReadModeNormalizedFloat
        elements = un.asarray(elements, un.float32, device=device)
        if largest != 1:
            elements = un.maximum(elements / np.float32(largest), np.float32(-1))
        is_normalized = self._flags > 0 and self._flags & TRSF_NORMALIZED_COORDINATES
        return packed_texture(elements, how_it_is_read(self._modes, self._filter, is_normalized, 0))


def bind_array_to_texref(ary, texref):
    """Read an `Array` by the nearest element, and by the last one beyond its ends."""
    texref.set_array(ary)
    for dim in range(2):
        texref.set_address_mode(dim, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def np_to_array(nparray, order, allowSurfaceBind=False):
    """An `Array` of an array of the host; in the order "F" its first axis is x."""
    return Array._of(nparray, order, "np_to_array")


def gpuarray_to_array(gpuarray, order, allowSurfaceBind=False):
    """An `Array` of an array of the device; in the order "F" its first axis is x."""
    values = gpuarray if isinstance(gpuarray, _Array) else gpuarray.get()
    return Array._of(values, order, "gpuarray_to_array")


def matrix_to_array(matrix, order, allow_double_hack=False):
    """An `Array` of a matrix of the host; in the order "F" its first axis is x."""
    if matrix.ndim != 2:
        raise LogicError(
            f"matrix_to_array: a matrix has two axes; got {matrix.ndim}; use np_to_array"
        )
    return Array._of(matrix, order, "matrix_to_array")


def matrix_to_texref(matrix, texref, order):
    """Read the elements that a matrix has now; in the order "F" its first axis is x.

    Examples
    --------
    >>> import numpy as np
    >>> import unisono.cuda.driver as cuda
    >>> from unisono.cuda.compiler import SourceModule
    >>> module = SourceModule('''
    ... texture<float, 2> table;
    ... __global__ void column(float* out) { out[threadIdx.x] = tex2D(table, 1, threadIdx.x); }
    ... ''')
    >>> texref = module.get_texref("table")
    >>> cuda.matrix_to_texref(np.array([[1, 2], [3, 4]], np.float32), texref, order="C")
    >>> out = np.zeros(2, np.float32)
    >>> module.get_function("column")(cuda.Out(out), block=(2, 1, 1), texrefs=[texref])
    >>> out.tolist()
    [2.0, 4.0]
    """
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
