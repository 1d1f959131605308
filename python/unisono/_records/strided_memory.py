"""Strided views of bytes: what record arrays and views of their unaligned fields are made of.

A `Memory` is a vector of bytes of ours, a storage of the tape. Whatever looks at it is a view of that storage: an
array of ours of one field, whose operations stay lazy, or an array of NumPy's over the exported buffer, before which
pending work completes and while which lives operations complete at once. So no reader misses a write.
On a device NumPy sees a copy of the elements; `Strided._changing` writes it back.
"""

import contextlib
import operator

from .. import _engine
from .._arrays.exchange.memory_pointer import MemoryPointer
from .._dtype.objects import _table

_largest = 16  # bytes of the largest element


class Memory:
    """A vector of bytes, and the largest power of two, up to 16, that divides its address."""

    __slots__ = ("alignment", "bytes", "readonly", "views")

    def __init__(self, held, alignment=_largest, readonly=False):
        self.bytes, self.alignment, self.readonly = held, alignment, readonly
        self.views = {}

    @classmethod
    def of_size(cls, size, zeroed=False):
        """Memory of its own, in whole numbers of the largest element."""
        room = max(_largest, -(-size // _largest) * _largest)
        if zeroed:
            return cls(_engine._full(room, 0, _table["uint8"], "cpu"))
        return cls(_engine._empty(room, _table["uint8"], "cpu"))

    @property
    def is_on_host(self):
        """Whether NumPy can look at the bytes where they lie."""
        return self.bytes.device.name == "cpu"

    def on_device(self, device):
        """A copy on another device."""
        return Memory(self.bytes.to_device(device))

    @classmethod
    def of_numpy(cls, array):
        """The shared memory of a NumPy array, and the offset of its first element."""
        import numpy

        low, high = reach(array.shape, array.strides, array.itemsize)
        address = array.ctypes.data
        for base in _bases(array):
            if isinstance(base, _engine._Array) and base.ndim == 1 and base.dtype == "uint8":
                start = base._address()
                if start <= address + low and address + high <= start + base.size:
                    align = start & -start if start else _largest
                    return cls(
                        base, min(align, _largest), not array.flags.writeable
                    ), address - start
        covered = numpy.asarray(_Covered(array, address + low, high - low))
        held = _engine._array(covered, None, "cpu", False)
        start = address + low
        align = min(start & -start if start else _largest, _largest)
        return cls(held, align, not array.flags.writeable), -low

    def typed(self, dtype):
        """All complete elements of an unisono dtype, counted from the first byte."""
        made = self.views.get(dtype.name)
        if made is None:
            whole = self.bytes.size // dtype.itemsize * dtype.itemsize
            made = self.views[dtype.name] = _engine._view_as(self.bytes[:whole], dtype)
        return made

    def numpy(self, dtype, shape, strides, offset, readonly=False):
        """NumPy's view, after pending work; while it lives, operations on the memory complete at once.

        Of memory on a device it is a view of a copy of those bytes among which the elements lie.
        """
        import numpy

        if 0 in shape:
            return numpy.empty(shape, dtype)
        # Over an array of NumPy's, which keeps the buffer exported: `ndarray` itself lets go of a buffer at once.
        held = self.bytes
        if not self.is_on_host:
            low, high = reach(shape, strides, dtype.itemsize)
            held, offset = held[offset + low : offset + high].get(), -low
        made = numpy.ndarray(shape, dtype, numpy.asarray(held), offset, strides)
        if readonly or self.readonly:
            made.flags.writeable = False
        return made

    def write_back(self, array, offset):
        """Write a NumPy array from `numpy`, whose first element lies at that offset, to the device."""
        import numpy

        low, high = reach(array.shape, array.strides, array.itemsize)
        held = numpy.asarray(_Covered(array, array.ctypes.data + low, high - low))
        self.bytes[offset + low : offset + high] = _engine._array(
            held, None, self.bytes.device.name, True
        )


class _Covered:
    """Bytes of an array of NumPy's, for its protocol of that name."""

    def __init__(self, array, address, size):
        self.held = array
        self.__array_interface__ = {
            "data": (address, not array.flags.writeable),
            "shape": (size,),
            "strides": (1,),
            "typestr": "|u1",
            "version": 3,
        }


def _bases(array):
    """What a NumPy array's memory belongs to, from the nearest to the last."""
    base = array
    while base is not None:
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
        if base is not None:
            yield base
        if isinstance(base, _engine._Array):
            return


def is_mapped(array):
    """Whether the elements lie in a file that is mapped into memory."""
    import mmap

    return any(isinstance(base, mmap.mmap) for base in _bases(array))


def engine_dtype(dtype):
    """Our dtype of the same elements, or None: text, dates, other byte orders, and records have none."""
    return _table.get(dtype.name) if dtype.kind in "biufc" and dtype.isnative else None


def reach(shape, strides, itemsize):
    """Bytes from the first element to the lowest one, and to the end of the highest one."""
    if 0 in shape:
        return 0, 0
    steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(min(r, 0) for r in steps), sum(max(r, 0) for r in steps) + itemsize


def packed_strides(shape, itemsize):
    """Strides in bytes of an array without gaps, in row-major order."""
    made = []
    for n in reversed(shape):
        made.insert(0, itemsize)
        itemsize *= max(n, 1)
    return tuple(made)


def basic_view(key, shape, strides):
    """The view that a key of integers, slices, None and an ellipsis selects.

    Returns
    -------
    (shape, strides, offset, whether it names one element), or None for any other key
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not all(p is None or p is Ellipsis or isinstance(p, slice) or _is_index(p) for p in parts):
        return None
    taken = sum(p is not None and p is not Ellipsis for p in parts)
    if taken > len(shape) or sum(p is Ellipsis for p in parts) > 1:
        raise IndexError(
            f"index: too many indices for an array of {len(shape)} axes; got {taken}"
            if taken > len(shape)
            else "index: an index can only have a single ellipsis ('...')"
        )
    has_ellipsis = any(p is Ellipsis for p in parts)
    rest = [slice(None)] * (len(shape) - taken)
    if has_ellipsis:
        at = next(k for k, p in enumerate(parts) if p is Ellipsis)
        full = [*parts[:at], *rest, *parts[at + 1 :]]
    else:
        full = [*parts, *rest]
    made, steps, offset, axis = [], [], 0, 0
    for p in full:
        if p is None:
            made.append(1)
            steps.append(0)
            continue
        n, step = shape[axis], strides[axis]
        if isinstance(p, slice):
            start, _, by = p.indices(n)
            count = len(range(*p.indices(n)))
            offset += start * step if count else 0
            made.append(count)
            steps.append(step * by)
        else:
            k = operator.index(p)
            if not -n <= k < n:
                raise IndexError(f"index: index {k} is out of bounds for axis {axis} with size {n}")
            offset += (k + n if k < 0 else k) * step
        axis += 1
    is_element = not made and not has_ellipsis
    return tuple(made), tuple(steps), offset, is_element


def _is_index(p):
    """Whether it counts as one integer: a bool is a mask, an array of integers an index array."""
    if isinstance(p, int):
        return not isinstance(p, bool)
    return (
        hasattr(p, "__index__")
        and getattr(p, "ndim", 0) == 0
        and getattr(p, "dtype", "int64") != "bool"
    )


def permuted(shape, strides, axes):
    """Shape and strides with the axes in another order; reversed for none."""
    n = len(shape)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    order = (
        tuple(range(n))[::-1]
        if not axes
        else tuple(operator.index(k) % n if n else k for k in axes)
    )
    if sorted(order) != list(range(n)):
        raise ValueError(f"transpose: axes don't match array; got {axes} for {n} axes")
    return tuple(shape[k] for k in order), tuple(strides[k] for k in order)


class Strided(_engine._BufferOfArray):
    """Elements of one dtype of NumPy's in a `Memory`: shape, strides in bytes, and what follows from them."""

    __slots__ = (
        "__weakref__",
        "_dtype",
        "_memory",
        "_offset",
        "_readonly",
        "_shape",
        "_strides",
    )

    def __init__(self, memory, dtype, shape, strides, offset=0, readonly=False):
        self._memory, self._dtype, self._offset = memory, dtype, offset
        self._shape, self._strides = tuple(shape), tuple(strides)
        self._readonly = readonly or memory.readonly

    shape = property(lambda self: self._shape, doc="Extent of each axis.")
    strides = property(lambda self: self._strides, doc="Bytes from one element to the next.")
    ndim = property(lambda self: len(self._shape), doc="Number of axes.")
    itemsize = property(lambda self: self._dtype.itemsize, doc="Bytes of one element.")
    nbytes = property(lambda self: self.size * self._dtype.itemsize, doc="Bytes of all elements.")
    device = property(lambda self: self._memory.bytes.device, doc="Where the elements lie.")
    T = property(lambda self: self.transpose(), doc="View with reversed axes.")
    data = property(MemoryPointer, doc="The memory of the elements.")
    flags = property(
        lambda self: self._host().flags, doc="Memory layout and whether the array is writable."
    )

    @property
    def size(self):
        """Number of elements."""
        made = 1
        for n in self._shape:
            made *= n
        return made

    def _host(self):
        """NumPy's view of the elements, after pending work."""
        return self._memory.numpy(
            self._dtype, self._shape, self._strides, self._offset, self._readonly
        )

    @contextlib.contextmanager
    def _changing(self):
        """A block that changes the elements by NumPy's view of them."""
        host = self._host()
        yield host
        if host.size and not self._memory.is_on_host:
            self._memory.write_back(host, self._offset)

    def _in_host_memory(self):
        """NumPy's view, in which a compiled function reads and writes the elements themselves."""
        if not self._memory.is_on_host:
            raise _engine.UnsupportedError(
                f"compiled functions: arrays of records are read and written on the host; got one on {self.device}; "
                "pass its fields, as in a['x']"
            )
        return self._host()

    def _with(self, shape, strides, offset=0):
        return type(self)(
            self._memory, self._dtype, shape, strides, self._offset + offset, self._readonly
        )

    def __array__(self, dtype=None, copy=None):
        import numpy

        host = self._host()
        if dtype is not None and numpy.dtype(dtype) != host.dtype:
            if copy is False:
                raise ValueError("__array__: another dtype needs a copy")
            return host.astype(dtype)
        return host.copy() if copy else host

    ctypes = property(lambda self: self._host().ctypes, doc="Address and extents for ctypes.")

    def get(self, stream=None, order="C", out=None, blocking=True):
        """A copy as an array of NumPy's, as numbers' arrays give."""
        if out is None:
            return self._host().copy(order)
        out[...] = self._host()
        return out

    def setflags(self, write=None, align=None, uic=None):
        """Allow or forbid writes through this view; views of it made later follow."""
        if write is not None:
            if write and self._memory.readonly:
                raise ValueError("setflags: cannot set WRITEABLE flag to True of read-only memory")
            self._readonly = not write

    def _eval(self):
        _engine.eval(self._memory.bytes)

    def __len__(self):
        if not self._shape:
            raise TypeError("len: a 0-d array has no length")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iter: iteration over a 0-d array; use .item()")
        return (self[k] for k in range(self._shape[0]))

    def transpose(self, *axes):
        """View with the axes in another order."""
        return self._with(*permuted(self._shape, self._strides, axes))

    def _is_same_view(self, other):
        """Whether the other shows exactly these elements of this memory."""
        mine = (self._dtype, self._shape, self._strides, self._offset)
        return (
            type(other) is type(self)
            and other._memory is self._memory
            and (other._dtype, other._shape, other._strides, other._offset) == mine
        )


def host_value(x):
    """The value for NumPy: unisono arrays are converted, other objects returned unchanged."""
    import numpy

    if isinstance(x, Strided):
        return x._host()
    if isinstance(x, (_engine._Array, *_engine._values)):
        return numpy.asarray(x)
    return x


def host_key(key):
    """An index for NumPy: unisono arrays in it are converted."""
    return tuple(map(host_value, key)) if isinstance(key, tuple) else host_value(key)
