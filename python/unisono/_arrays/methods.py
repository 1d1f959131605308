"""Methods and attributes of the array that are written in Python; other names are functions of the package."""

import builtins
import contextlib
import math
import operator

import unisono as un

from .. import _engine
from .._runtime import waits
from .axes import byte_strides
from .exchange.interoperation import array_function as __array_function__  # noqa: F401
from .exchange.interoperation import (  # noqa: F401
    factorize,
    has_missing,
    matvec,
    pandas_type,
    rmatvec,
    to_numpy,
)
from .exchange.numpys_elements import retried
from .ufunc import as_array, resolve


def __getattr__(name):
    return getattr(un, name)


def __array_namespace__(self, *, api_version=None):
    """Return ``unisono.array_api``; the versions of the standard that it follows are 2021.12 to 2025.12."""
    versions = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
    if api_version is not None and api_version not in versions:
        raise ValueError(
            f"__array_namespace__: unknown version of the array API; got {api_version!r}, expected one of "
            f"{', '.join(versions)}"
        )
    return un.array_api


def init_subclass(cls, **options):
    """Let views, copies and results of a class that derives from the array be of that class."""
    from . import subclasses

    subclasses.init_subclass(cls, **options)


def __round__(self, digits=None):
    if digits is None and self.ndim == 0:
        return round(self.item())
    return un.round(self, digits or 0)


def __sizeof__(self):
    """Bytes of the object and of the memory that it owns, for `sys.getsizeof`."""
    return object.__sizeof__(self) + (self.nbytes if self.base is None else 0)


def _repr_html_(self):
    """HTML representation for notebooks."""
    from .._tools.notebook import array_html

    return array_html(self)


def compress(self, condition, axis=None, out=None):
    """Slices along `axis` where the condition is true."""
    return un.compress(condition, self, axis, out)


def choose(self, *choices, out=None, mode="raise"):
    """Construct an array from this index array and a list of arrays to choose from."""
    return un.choose(self, choices[0] if len(choices) == 1 else choices, out, mode)


def conj(self, out=None):
    """Complex conjugate; the array itself where it is real."""
    if out is not None:
        return un.conjugate(self, out=out)
    if self.dtype.kind == "c":
        return un.conjugate(self)
    return self[()] if self._is_value() else self


conjugate = conj


def copy_to_host(self, ary=None, stream=None):
    """A NumPy array with a copy of the elements, or `ary` filled with them."""
    waits.check("copy_to_host")
    if ary is None:
        import numpy

        return numpy.array(self.to_device("cpu"))
    if ary.shape != self.shape:
        raise ValueError(
            f"copy_to_host: the shapes differ; got ary of shape {tuple(ary.shape)}; expected "
            f"{tuple(self.shape)}; leave ary out for a new array"
        )
    ary[...] = self.to_device("cpu")
    return ary


def copy_to_device(self, source, stream=None):
    """Copies an array of the same shape into this one."""
    given = un.asarray(source)
    if given.shape != self.shape:
        raise ValueError(
            f"copy_to_device: the shapes differ; got a source of shape {tuple(given.shape)}; expected "
            f"{tuple(self.shape)}; make an array of that shape with cuda.to_device"
        )
    self[...] = given.to_device(self.device)


def split(self, section, stream=None):
    """Views of `section` elements each; the last one has what is left."""
    if self.ndim != 1:
        raise ValueError(
            f"split: got an array of {self.ndim} axes; expected one; split a part of one axis"
        )
    section = operator.index(section)
    if section < 1:
        raise ValueError(f"split: got sections of {section} elements; expected at least 1")
    return (self[begin : begin + section] for begin in range(0, self.size, section))


def bind(self, stream=None):
    """The array itself: work on it comes behind what writes it, on all streams."""
    return self


def is_c_contiguous(self):
    """Whether it lies packed with the last axis first."""
    return self.flags.c_contiguous


def is_f_contiguous(self):
    """Whether it lies packed with the first axis first."""
    return self.flags.f_contiguous


def get(self, stream=None, order="C", blocking=True, out=None):
    """A NumPy array with a copy of the elements, or `out` filled with them."""
    made = copy_to_host(self, out)
    if out is not None:
        return made
    import numpy

    if order in ("A", "K"):  # devices give elements in C order
        order = "F" if self.flags.fnc else "C"
    return numpy.asarray(made, order=order)


set = copy_to_device


def toDlpack(self):
    """A DLPack capsule over the same memory."""
    return self.__dlpack__()


def __array_wrap__(self, array, context=None, return_scalar=False, /):
    """NumPy's protocol for results: an array of the class of `self`, or a number where one is asked for."""
    from .lifted import of_class

    made = un.asarray(array)
    if return_scalar and made.ndim == 0:
        return made[()]
    return made if builtins.type(self) is _engine.ndarray else of_class(made, self)


class _Held(tuple):
    """Address of an array and whether it is read-only; operations on it complete at once as long as this lives."""


def array_interface(self):
    """NumPy's protocol: the memory, held by a view so that it is never stale.

    Of memory that the host sees that is an address, which C code asks for. NumPy's array over an address holds the array
    that it asked, and no copy: that of a device's memory is a buffer.
    """
    host = self.to_device("cpu")
    if isinstance(host, _engine._values):  # Python's numbers, of which not all have a buffer
        host = _engine._array(host, None, "cpu", True)
    made = {
        "shape": tuple(host.shape),
        "typestr": f"{'|' if host.itemsize == 1 else '<'}{host.dtype.kind}{host.itemsize}",
        "strides": None if host.flags.c_contiguous else byte_strides(host),
        "version": 3,
    }
    if str(self.device) == "cpu":
        place = _Held((host._address(), not host.flags.writeable))
        place.view = memoryview(host)
        return {**made, "data": place}
    if host.flags.c_contiguous:
        return {**made, "data": memoryview(host)}
    # The buffer must be packed: all from the lowest to the highest element.
    reach = [
        (n - 1) * s // host.itemsize for n, s in zip(host.shape, byte_strides(host), strict=True)
    ]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    covered = _engine._strided(host, (high - low + 1,), (1,), low)
    return {**made, "data": memoryview(covered), "offset": -low * host.itemsize}


def numpy_dtype(self):
    """NumPy's dtype of a value, as ``numpy.dtype(numpy.float64(1))`` gives; AttributeError of arrays."""
    if not self._is_value():
        raise AttributeError("__numpy_dtype__")
    return self.dtype.dtype


def cuda_array_interface(self):
    """CUDA's protocol; AttributeError where the array is on another device."""
    from .exchange import cuda_memory

    return cuda_memory.interface(self)


def mesh(self):
    return self.device if isinstance(self.device, _engine.Mesh) else None


def local(self):
    if mesh(self) is None:
        return self
    part = _engine._mesh_part(self)[1]
    part.flags.writeable = False
    return part


def set_local(self, value):
    if mesh(self) is None:
        self[...] = value
    else:
        _engine._set_mesh_part(
            self, value if isinstance(value, _engine._Array) else un.asarray(value, device="cpu")
        )


def layout(self):
    if mesh(self) is None:
        return None
    from .._runtime.layouts import described

    entries, _, owner, is_grid = _engine._mesh_split(self)
    return described(entries, owner, is_grid, self.ndim)


def to_layout(self, layout):
    """A distributed array in another layout."""
    from .._runtime.mesh import to_layout as changed

    return changed(self, layout)


def global_index(self):
    if mesh(self) is None:
        return tuple(slice(0, n) for n in self.shape)
    return tuple(
        slice(*own) if isinstance(own, tuple) else own for own in _engine._mesh_part(self)[0]
    )


def setflags(self, write=None, align=None, uic=None):
    """Allow or forbid writes through this array."""
    if write is not None:
        self._set_writeable(bool(write))
    if (align is not None and not align) or uic:
        raise ValueError("setflags: only write= can be changed; arrays of ours are aligned")


class Flags:
    """Layout of an array, by attributes or by keys, as NumPy's ``flags``."""

    __slots__ = ("_array",)
    _names = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")

    def __init__(self, array):
        self._array = array

    @property
    def c_contiguous(self):
        """Packed, in row-major order."""
        return _packed(self._array.shape, byte_strides(self._array), self._array.itemsize)

    @property
    def f_contiguous(self):
        """Packed, in column-major order."""
        return _packed(
            self._array.shape[::-1], byte_strides(self._array)[::-1], self._array.itemsize
        )

    @property
    def owndata(self):
        """Whether the array covers its memory: it is no view of a part."""
        return self._array.base is None

    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)

    @property
    def writeable(self):
        """Whether writes through the array are allowed; may be set."""
        array = self._array
        return not memoryview(array).readonly if array.device == "cpu" else True

    @writeable.setter
    def writeable(self, on):
        self._array._set_writeable(bool(on))

    @property
    def contiguous(self):
        """Packed, in row-major order."""
        return self.c_contiguous

    fortran = property(lambda self: self.f_contiguous)
    behaved = property(lambda self: self.aligned and self.writeable)
    carray = property(lambda self: self.behaved and self.c_contiguous)
    farray = property(lambda self: self.behaved and self.fnc)
    forc = property(lambda self: self.c_contiguous or self.f_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)

    @property
    def num(self):
        """NumPy's number of the flags, a bit each."""
        bits = (0x1, 0x2, 0x4, 0x400, 0x100, 0x2000)
        return sum(bit for bit, name in zip(bits, self._names, strict=True) if getattr(self, name))

    def __eq__(self, other):
        if not isinstance(other, Flags):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names)

    __hash__ = None

    def __getitem__(self, key):
        short = {
            "C": "c_contiguous",
            "F": "f_contiguous",
            "W": "writeable",
            "A": "aligned",
            "O": "owndata",
            "X": "writebackifcopy",
            "B": "behaved",
            "CA": "carray",
            "FA": "farray",
        }
        name = short.get(key, key.lower())
        if not hasattr(self, name):
            raise KeyError(f"Unknown flag {key!r}")
        return getattr(self, name)

    def __setitem__(self, key, value):
        if key.lower() not in ("w", "writeable"):
            raise KeyError(f"flags: only WRITEABLE can be set; got {key!r}")
        self.writeable = value

    def __repr__(self):
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in self._names) + "\n"


def _packed(shape, strides, step):
    if 0 in shape:
        return True
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def flags(self):
    """Memory layout and whether the array is writable."""
    return Flags(self)


class flatiter:
    """Elements in row-major order: iterate, index, or write through it, as NumPy's ``flatiter``.

    Parameters
    ----------
    array : ndarray

    Raises
    ------
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros((2, 2))
    >>> x.flat[3] = 1
    >>> x.tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """

    __hash__ = None

    def __init__(self, array):
        self.base = array
        self._index, self._is_packed = 0, None

    @property
    def index(self):
        """Number of the next element."""
        return self._index

    def __iter__(self):
        return self

    def __len__(self):
        return self.base.size

    def __next__(self):
        if self._index >= self.base.size:
            raise StopIteration
        if self._is_packed is None:
            self._is_packed = self.base.flags.c_contiguous
        x = self.base.reshape(-1)[self._index] if self._is_packed else self.base[self.coords]
        self._index += 1
        return x

    @property
    def coords(self):
        """Index of the next element."""
        left, made = self.index, []
        for n in reversed(self.base.shape):
            left, k = divmod(left, n)
            made.append(k)
        return tuple(reversed(made))

    def copy(self):
        """All elements as a new one-dimensional array."""
        return self.base.flatten()

    def __array__(self, dtype=None, copy=None):
        return self.copy().__array__(dtype, copy)

    def __getitem__(self, key):
        got = self.base.reshape(-1)[_flat_key(key)]
        return got.copy() if got.ndim else got

    def __setitem__(self, key, value):
        elements = self.base.reshape(-1)
        value = as_array(value).reshape(-1)
        target = elements[_flat_key(key)]
        if value.size == 0 or target.size == 0:
            return
        if value.size != target.size and value.size > 1:  # NumPy repeats the values
            value = un.resize(value, target.shape)
        elements[key] = value if value.size > 1 else value[0]
        is_packed = _packed(self.base.shape, byte_strides(self.base), self.base.itemsize)
        if not is_packed or self.base.mesh is not None:  # another shape was a copy
            self.base[...] = elements.reshape(self.base.shape)


def _compared(operation):
    def compare(self, other):
        """Of each element, as an array."""
        return operation(
            self.base.reshape(-1), un.asarray(other) if isinstance(other, flatiter) else other
        )

    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(flatiter, _name, _compared(getattr(operator, _name)))


def _flat_key(key):
    """An index of one axis; None, which would make another, is refused."""
    if key is None or isinstance(key, tuple) and any(k is None for k in key):
        raise IndexError(
            "flat: None adds an axis, and flat has one; index with integers, slices or a mask"
        )
    return key


def flat(self):
    """Iterator over the elements."""
    return flatiter(self)


def set_flat(self, value):
    """Write all elements."""
    flatiter(self)[:] = value


def resize(self, *new_shape, refcheck=True):
    """Change the shape in place; new elements are 0. Existing views keep the old memory."""
    if len(new_shape) == 1 and (new_shape[0] is None or not hasattr(new_shape[0], "__index__")):
        (new_shape,) = new_shape
    elif not new_shape:
        return
    if new_shape is None:
        return
    if self._is_value() or not self.flags.writeable:
        raise ValueError("resize: cannot resize this array: it is a value or read-only")
    shape = tuple(operator.index(n) for n in new_shape)
    if any(n < 0 for n in shape):
        raise ValueError("resize: all elements of the new shape must be non-negative")
    made = un.zeros(math.prod(shape), self.dtype, device=self.device)
    n = min(made.size, self.size)
    made[:n] = self.reshape(-1)[:n]
    self._become(made.reshape(shape))


def _number(self, method, kinds):
    """The Python number of a value, for methods that NumPy's scalars have of Python's numbers."""
    if self.ndim or self.dtype.kind not in kinds:
        raise TypeError(
            f"{method}: not supported for arrays of dtype {self.dtype} and shape {self.shape}"
        )
    return self.item()


def is_integer(self):
    """Whether the number is an integer."""
    return _number(self, "is_integer", "iuf") % 1 == 0


def as_integer_ratio(self):
    """A pair of Python integers whose ratio equals the number."""
    return _number(self, "as_integer_ratio", "iuf").as_integer_ratio()


def bit_count(self):
    """Number of set bits in the absolute value."""
    return _number(self, "bit_count", "iu").bit_count()


def _swapped(x):
    """The bytes of each element, seen as an integer, in opposite order."""
    bits = 8 * x.itemsize
    made = x.view(f"u{x.itemsize}")
    half = 8
    while half < bits:  # neighbouring bytes, then pairs of them, then halves
        mask = (2**bits - 1) // (2**half + 1)
        made = (made & mask) << half | made >> half & mask
        half *= 2
    return made.view(x.dtype) if bits > 8 else x.copy()


def byteswap(self, inplace=False):
    """The bytes of each element (of each part of complex ones) in opposite order."""
    x = self.reshape(1) if self.ndim == 0 else self
    if self.dtype.kind == "c":
        swapped = un.empty_like(x)
        swapped.real = _swapped(x.real)
        swapped.imag = _swapped(x.imag)
    else:
        swapped = _swapped(x)
    swapped = swapped.reshape(self.shape)
    if not inplace:
        return swapped[()] if self._is_value() else swapped
    self[...] = swapped
    return self


class Pointer:
    """The memory of an array for ctypes, as NumPy's ``ctypes`` attribute: held as long as this lives."""

    def __init__(self, array):
        import ctypes

        self._held = array, memoryview(array)  # operations on it complete at once from here on
        self.data = array._address()
        self._as_parameter_ = ctypes.c_void_p(self.data)
        self.shape = (ctypes.c_ssize_t * array.ndim)(*array.shape)
        self.strides = (ctypes.c_ssize_t * array.ndim)(*byte_strides(array))

    def data_as(self, pointer):
        """The address as a ctypes pointer, which keeps the array."""
        import ctypes

        made = ctypes.cast(self._as_parameter_, pointer)
        made._array = self._held
        return made


def ctypes(self):
    """Address, extents and strides for ctypes."""
    return Pointer(self)


def matrix_transpose(self):
    """View with the last two axes exchanged."""
    if self.ndim < 2:
        raise ValueError(f"mT: needs at least two axes; got shape {tuple(self.shape)}")
    return un.swapaxes(self, -1, -2)


def data(self):
    """The memory of the elements: a MemoryPointer."""
    from .exchange.memory_pointer import MemoryPointer

    return MemoryPointer(self)


def _is_array_class(x):
    is_ours = isinstance(x, builtins.type) and issubclass(x, _engine._Array)
    return is_ours and x not in _engine._scalars


def _is_numpys_class(x):
    """Whether it is NumPy's array or a class that derives from it, as `numpy.matrix`."""
    is_class = isinstance(x, builtins.type) and issubclass(x, _engine.ndarray)
    return is_class and not issubclass(x, _engine._Array)


def view(self, dtype=None, type=None):
    """Return the same memory, as another dtype where one is given: writes show in both.

    Parameters
    ----------
    dtype : dtype or subclass of ndarray, optional
        One of another size than the array's takes a packed last axis, whose extent changes.
        Where it is bool and bytes are neither 0 nor 1, the result is a read-only copy of what they mean.
    type : subclass of ndarray, optional
        The class of the result; of NumPy's array or a class of it, as `numpy.matrix`, NumPy's view of the memory. Of a
        class of ours, its views, copies and results are of that class, too. Its method
        ``__array_finalize__``, if it has one, is called with the array.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `type` is not a subclass of ndarray.
    ValueError
        If the last axis does not hold a whole number of elements.

    Notes
    -----
    Elements that would not lie at multiples of their size are a view of NumPy's.

    Examples
    --------
    >>> import unisono as un
    >>> un.asarray([1.0, -2.0]).view("uint64").tolist()
    [4607182418800017408, 13835058055282163712]
    """
    if isinstance(dtype, builtins.type) and dtype == _engine.ndarray:
        dtype = _engine.ndarray  # or a class that stands for it, as CuPy's
    if _is_array_class(dtype) or _is_numpys_class(dtype):
        dtype, type = None, dtype
    if _is_numpys_class(type):
        import numpy

        return numpy.asarray(self if dtype is None else view(self, dtype)).view(type)
    if type is not None:
        made = (self[...] if dtype is None else view(self, dtype))._as_type(type)
        finalize = getattr(made, "__array_finalize__", None)
        if finalize is not None:
            finalize(self)
        return made
    if dtype is None or dtype == self.dtype:
        return self[...]
    to = resolve(dtype)
    if builtins.type(to) is not un.dtype:  # NumPy's own
        made = retried(".view", (self, to), None)
        if made is not NotImplemented:
            return made
    try:
        made = _engine._view_as(self, to)
    except ValueError:
        if self.device == "cpu" and _is_unaligned(self, to.itemsize):
            import numpy

            with contextlib.suppress(ValueError):
                return numpy.asarray(self).view(to.name)
        raise
    if to.kind == "b" and self.size > 0:
        numbers = _engine._view_as(self, resolve("uint8"))
        if numbers.max() > 1:
            made = numbers != 0
            made.flags.writeable = False
    return made


def _is_unaligned(x, size):
    """Whether elements of that size, viewed in an array of the host's, would not lie at multiples of it."""
    address, _ = x.__array_interface__["data"]
    return any(n % size for n in (address, *byte_strides(x)[:-1]))


def astype_same_value(self, dtype, order="K", casting="same_value", subok=True, copy=True):
    """As `astype`, of which all values stay what they are, or it is a ValueError."""
    made = self.astype(dtype, order, "unsafe", subok, copy)
    if made is not self:
        back = made.astype(self.dtype)
        same = (back == self) | ((back != back) & (self != self))
        same &= (
            (made < 0) == (self < 0)
            if self.dtype.kind in "iuf" and made.dtype.kind in "iu"
            else True
        )
        if not same.all():
            raise ValueError(
                f"astype: casting='same_value' found values of {self.dtype} that {made.dtype} does not hold; "
                "expected values that stay equal; use casting='unsafe' to round or wrap them"
            )
    return made


def getfield(self, dtype, offset=0):
    """Return a view of part of each element: as another dtype, from so many bytes on.

    Parameters
    ----------
    dtype : dtype
    offset : int, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If that does not lie within an element, or is not aligned for the dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.asarray([1 + 2j, 3 + 4j]).getfield("float64", 8).tolist()
    [2.0, 4.0]
    """
    to, offset = resolve(dtype), operator.index(offset)
    if not 0 <= offset <= self.itemsize - to.itemsize:
        raise ValueError(
            f"getfield: {to} from byte {offset} on is not within an element; got {self.dtype}; "
            f"expected an offset of 0 to {self.itemsize - to.itemsize}"
        )
    if not self.ndim:
        return getfield(un.asarray([self], self.dtype), to, offset)[0]
    of_bytes = view(self[..., None], "uint8")[..., offset : offset + to.itemsize]
    return view(of_bytes, to)[..., 0]


def setfield(self, val, dtype, offset=0):
    """Write into the part of each element that `getfield` shows."""
    getfield(self, dtype, offset)[...] = val


def tofile(self, fid, sep="", format="%s"):
    """Write the elements to a file, as bytes or as text."""
    import os

    if not hasattr(fid, "write"):
        with open(os.fspath(fid), "wb") as file:
            return tofile(self, file, sep, format)
    if sep == "":
        fid.write(self.tobytes())
        return None
    text = sep.join(format % v for v in self.reshape(-1).tolist())
    fid.write(text.encode() if "b" in getattr(fid, "mode", "b") else text)
    return None


def dump(self, file):
    """Write the array's pickle to a file."""
    import os
    import pickle

    if not hasattr(file, "write"):
        with open(os.fspath(file), "wb") as opened:
            return pickle.dump(self, opened, protocol=4)
    return pickle.dump(self, file, protocol=4)


def dumps(self):
    """Return the array's pickle as bytes."""
    import pickle

    return pickle.dumps(self, protocol=4)
