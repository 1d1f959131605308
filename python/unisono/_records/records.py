"""Arrays of records: structured dtypes, whose fields are views.

The dtype is NumPy's, the memory ours (strided_memory.py). A field of numbers is an array of ours over the same
storage, so that its operations are lazy and fuse; whole records are moved by NumPy, once pending work is done. On a
device they are copied to the host for that, and back where they changed.
"""

import builtins
import operator

from .. import _engine
from .._arrays.axes import several
from .._dtype.objects import DType
from . import is_structured, kinds
from .field_views import FieldView
from .strided_memory import (
    Memory,
    Strided,
    basic_view,
    engine_dtype,
    host_key,
    host_value,
    is_mapped,
    packed_strides,
)


def numpys_dtype(spec, align=False, metadata=None):
    """NumPy's dtype of that description."""
    import numpy

    options = {} if metadata is None else {"metadata": metadata}
    return numpy.dtype(_numpys_spec(spec), align=align, **options)


def record_dtype(spec, what="dtype"):
    """NumPy's structured dtype of that description, whose fields are no objects."""
    made = numpys_dtype(spec)
    if made.hasobject:
        raise TypeError(
            f"{what}: records hold numbers, text, dates and records; got a field of objects in {made}; "
            "keep objects in a list, or in an array of NumPy's"
        )
    return made


def _numpys_spec(spec):
    """The description with unisono's dtypes replaced by their names, which NumPy reads."""
    if isinstance(spec, DType):
        return spec.name
    if isinstance(spec, (list, tuple)):
        return type(spec)(map(_numpys_spec, spec))
    if isinstance(spec, dict):
        return {k: _numpys_spec(v) for k, v in spec.items()}
    return spec


class RecordArray(Strided):
    """Array of a structured dtype: NumPy's, whose fields are arrays that show and change the records.

    Examples
    --------
    >>> import unisono as un
    >>> a = un.zeros(2, dtype=[("x", "f8"), ("id", "i4")])
    >>> a["x"] += 1.5
    >>> a[1] = (4, 7)
    >>> a.tolist()
    [(1.5, 0), (4.0, 7)]
    """

    __slots__ = ("_fields",)
    __array_priority__ = 1000
    __hash__ = None
    __class__ = property(lambda self: _engine.ndarray)

    def __init__(self, memory, dtype, shape, strides, offset=0, readonly=False):
        super().__init__(memory, dtype, shape, strides, offset, readonly)
        self._fields = {}  # by name, what makes its views

    dtype = property(lambda self: self._dtype, doc="NumPy's structured dtype.")

    @property
    def base(self):
        """None if the array owns its memory; else the bytes of the whole memory."""
        if self._offset == 0 and self._strides == packed_strides(self._shape, self.itemsize):
            return None
        return self._memory.bytes

    # Fields and records.

    def _field(self, name):
        make = self._fields.get(name)
        if make is None:
            make = self._fields[name] = self._maker_of_field(name)
        return make(self._readonly)

    def _maker_of_field(self, name):
        if name not in self._dtype.fields:
            raise ValueError(
                f"no field of name {name}; expected one of {', '.join(self._dtype.names)}"
            )
        inner, offset = self._dtype.fields[name][:2]
        element, extents = inner.subdtype or (inner, ())
        return maker_of_views(
            self._memory,
            element,
            self._shape + extents,
            self._strides + packed_strides(extents, element.itemsize),
            self._offset + offset,
        )

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._field(key)
        if isinstance(key, list) and key and all(isinstance(k, str) for k in key):
            for k in key:
                if k not in self._dtype.fields:
                    raise KeyError(f"no field of name {k}")
            picked = self._dtype[key]
            return RecordArray(
                self._memory, picked, self._shape, self._strides, self._offset, self._readonly
            )
        view = basic_view(key, self._shape, self._strides)
        if view is None:
            host = self._host()
            return self._ours(host[host_key(key)], host)
        shape, strides, offset, is_element = view
        made = self._with(shape, strides, offset)
        return made._host()[()] if is_element else made

    def __setitem__(self, key, value):
        if self._readonly:
            raise ValueError("assignment: the destination is read-only; make a copy with .copy()")
        if isinstance(key, str):
            field = self._field(key)
            if isinstance(field, FieldView):
                field[...] = value
                return
            if type(field) is _engine.ndarray:
                field[slice(None) if field.ndim else ...] = value
                return
        with self._changing() as host:
            host[host_key(key)] = host_value(value)

    def copy_to_host(self, ary=None, stream=None):
        """A NumPy array with a copy of the records, or `ary` filled with them."""
        import numpy

        if ary is None:
            return numpy.array(self._host())
        ary[...] = self._host()
        return ary

    def copy_to_device(self, source, stream=None):
        """Copies an array of records into this one."""
        self[...] = source

    def __contains__(self, value):
        return host_value(value) in self._host()

    def _ours(self, made, host=None):
        """Convert what NumPy made of its view of the records: a view of them if it shares that view's memory."""
        import numpy

        if isinstance(made, (tuple, list)) and type(made) in (tuple, list):
            return type(made)(self._ours(m, host) for m in made)
        if not isinstance(made, numpy.ndarray):
            return made
        if host is not None and made.size and numpy.may_share_memory(made, host):
            at = self._offset + made.ctypes.data - host.ctypes.data
            readonly = not made.flags.writeable
            return view_of(self._memory, made.dtype, made.shape, made.strides, at, readonly)
        return ours(made, self.device)

    # What moves whole records.

    def copy(self, order="C"):
        """A copy of the records."""
        return from_numpy(self._host(), order, self.device)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def to_device(self, device, /, *, stream=None):
        """The array itself where it is there already, else a copy on the device."""
        name = getattr(device, "name", device)
        if name == self.device.name:
            return self
        memory = self._memory.on_device(name)
        return RecordArray(memory, self._dtype, self._shape, self._strides, self._offset)

    def fill(self, value):
        """Every record becomes that one."""
        self[...] = value

    def sort(self, axis=-1, kind=None, order=None, **options):
        """Sort in place, by the fields in `order`, then by those left."""
        with self._changing() as host:
            host.sort(axis, kind, order, **options)

    def view(self, dtype=None, type=None):
        """The same memory as another dtype, or as a class of NumPy's such as ``recarray``."""
        import numpy

        host = self._host()
        kind = dtype if type is None else type
        if isinstance(kind, builtins.type) and issubclass(kind, numpy.ndarray):
            return host.view(kind) if type is None or dtype is None else host.view(dtype, kind)
        made = host.view() if dtype is None else host.view(_numpys_spec(dtype))
        return self._ours(made, host)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A copy with fields of other dtypes, matched by position."""
        made = self._host().astype(_numpys_spec(dtype), order, casting, subok, copy)
        return self._ours(made)

    def __repr__(self):
        return repr(self._host())

    def __str__(self):
        return str(self._host())

    def __reduce__(self):
        return _from_pickle, (self._host().copy(),)

    def __bool__(self):
        return bool(self._host())

    def __array_namespace__(self, *, api_version=None):
        """``unisono.array_api``."""
        import unisono

        return unisono.array_api

    def __eq__(self, other):
        return self._ours(self._host() == host_value(other))

    def __ne__(self, other):
        return self._ours(self._host() != host_value(other))

    # Protocols of NumPy and of CUDA.

    @property
    def __cuda_array_interface__(self):
        """CUDA's protocol; AttributeError where the array is on another device."""
        from .._arrays.exchange import cuda_memory

        return cuda_memory.interface(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if ufunc.__name__ in ("equal", "not_equal") and method == "__call__":
            return self._ours(ufunc(*map(host_value, inputs), **options))
        raise no_arithmetic(ufunc.__name__, self)

    def __array_function__(self, function, types, args, options):
        return by_numpy(function, *args, **options)


kinds.append(RecordArray)


def no_arithmetic(what, a):
    """The error of a number's operation on records."""
    fields = ", ".join(a.dtype.names)
    return TypeError(
        f"{what}: records support neither arithmetic nor comparison; got an array of records with the fields {fields}; "
        f"take a field, as in a[{a.dtype.names[0]!r}]"
        if a.dtype.names
        else f"{what}: records without fields do not support arithmetic; got dtype {a.dtype}"
    )


# Methods of NumPy's that give records, places or Python's objects.
_numpys_methods = """
    argsort byteswap choose compress diagonal dump dumps flatten getfield item nonzero partition ravel
    repeat reshape searchsorted setfield squeeze swapaxes take tobytes tofile tolist
""".split()
_changes = frozenset("byteswap partition setfield".split())  # those that may write
# Methods of numbers.
_numbers_methods = """
    all any argmax argmin clip conj conjugate cumprod cumsum dot max mean min prod ptp round std sum trace var
""".split()


def _add_methods():
    def forwarded(name):
        def method(self, *args, **options):
            given = [host_value(x) for x in args]
            named = {k: host_value(v) for k, v in options.items()}
            if name in _changes:
                with self._changing() as host:
                    made = getattr(host, name)(*given, **named)
            else:
                host = self._host()
                made = getattr(host, name)(*given, **named)
            return made if name in ("item", "tolist") else self._ours(made, host)

        method.__name__ = name
        method.__doc__ = f"As NumPy's method ``{name}`` of a structured array."
        return method

    def refused(name):
        def method(self, *others):
            raise no_arithmetic(name, self)

        method.__name__ = f"__{name}__"
        return method

    def refused_method(name):
        def method(self, *args, **options):
            raise no_arithmetic(name, self)

        method.__name__ = name
        method.__doc__ = "Raise TypeError: records do not support arithmetic."
        return method

    for name in _numpys_methods:
        setattr(RecordArray, name, forwarded(name))
    arithmetic = (
        "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
    )
    for name in arithmetic:
        for prefix in ("", "r", "i"):
            setattr(RecordArray, f"__{prefix}{name}__", refused(prefix + name))
    for name in "lt le gt ge neg pos abs invert".split():
        setattr(RecordArray, f"__{name}__", refused(name))
    for name in _numbers_methods:
        setattr(RecordArray, name, refused_method(name))


_add_methods()


# Making them.


def _on(made, device):
    """The records on the device asked for; where they are if none is."""
    if device is None or isinstance(device, _engine._Array):
        return made
    return made.to_device(device)


def view_of(memory, dtype, shape, strides, offset, readonly):
    """Elements of a NumPy dtype in that memory, as records, an unisono array or a NumPy array."""
    return maker_of_views(memory, dtype, shape, strides, offset)(readonly)


def maker_of_views(memory, dtype, shape, strides, offset):
    """Function that makes such a view at each call, read-only where its argument says so."""
    if dtype.names is not None:
        return lambda readonly: RecordArray(memory, dtype, shape, strides, offset, readonly)
    t = engine_dtype(dtype)
    if t is None:
        if not memory.is_on_host:  # text and dates, which NumPy sees where they lie on the host
            return lambda readonly: RecordArray(memory, dtype, shape, strides, offset, readonly)
        return lambda readonly: memory.numpy(dtype, shape, strides, offset, readonly)
    size = dtype.itemsize
    part = size // 2 if t.kind == "c" else size
    steps = [s if n > 1 else 0 for n, s in zip(shape, strides, strict=True)]
    if memory.alignment % part or offset % size or any(s % size for s in steps):
        return lambda readonly: FieldView(memory, dtype, shape, strides, offset, readonly)
    typed, first = memory.typed(t), offset // size
    steps = tuple(s // size for s in strides)
    fixed = memory.readonly

    def make(readonly):
        made = _engine._strided(typed, shape, steps, first)
        if readonly or fixed:
            made._set_writeable(False)
        return made

    return make


def ours(made, device=None):
    """Convert a NumPy array to an unisono array, on that device, if its dtype is supported."""
    name = getattr(device, "name", device)
    is_elsewhere = name not in (None, "cpu") and not made.dtype.hasobject
    if engine_dtype(made.dtype):
        return _engine._asarray(made, None, name, None)
    if made.dtype.names is not None and not made.dtype.hasobject or is_elsewhere:
        return from_numpy(made, device=device)
    return made


def empty_records(shape, dtype, order="C", zeroed=False):
    """New records; `dtype` is NumPy's."""
    shape = tuple(operator.index(n) for n in several(shape))
    if any(n < 0 for n in shape):
        raise ValueError(f"shape: negative dimensions are not allowed; got {shape}")
    strides = packed_strides(shape, dtype.itemsize)
    if order == "F":
        strides = packed_strides(shape[::-1], dtype.itemsize)[::-1]
    size = dtype.itemsize
    for n in shape:
        size *= n
    return RecordArray(Memory.of_size(size, zeroed), dtype, shape, strides)


def full_records(shape, value, spec, order="C", device=None, mesh=None):
    """New records, all equal to the value; of zeros for None."""
    if mesh is not None:
        raise _engine.UnsupportedError("records: arrays of records are not distributed")
    dtype = record_dtype(spec)
    if dtype.subdtype:  # elements of some axes: arrays of these axes
        from .._arrays.creation import full

        base, axes = dtype.subdtype
        shape = *several(shape), *axes
        return full(shape, 0 if value is None else value, base, order, device=device)
    made = empty_records(shape, dtype, order, zeroed=True)
    if value is not None:
        made[...] = value
    return _on(made, device)


def from_numpy(array, order="K", device=None):
    """A copy of NumPy's structured array."""
    import numpy

    shape = array.shape
    like = numpy.empty_like(array, order=order, subok=False)
    made = RecordArray(Memory.of_size(array.nbytes, zeroed=True), array.dtype, shape, like.strides)
    made._host()[...] = array
    return _on(made, device)


def _from_pickle(array):
    return from_numpy(array)


def shared(array):
    """Records in the memory of NumPy's structured array."""
    memory, offset = Memory.of_numpy(array)
    return RecordArray(
        memory, array.dtype, array.shape, array.strides, offset, not array.flags.writeable
    )


def convert(x, dtype, device, copy, shares):
    """What un.array and un.asarray make of records, or of anything with a structured dtype given; None of all else."""
    import numpy

    if dtype is not None and not is_structured(dtype):
        if isinstance(x, FieldView):
            return _engine._array(x._read(), dtype, device, None)
        if isinstance(x, RecordArray):
            raise no_arithmetic(f"conversion to {dtype}", x)
        return None
    if isinstance(x, FieldView) and dtype is None:
        if copy is False:
            raise ValueError(
                "array: cannot make this array without a copy: its numbers are not aligned; make the dtype "
                "with np.dtype(..., align=True)"
            )
        # What reads operands may also write to them: it must not write to a copy.
        return x._frozen() if shares and copy is None else x._read()
    wanted = None if dtype is None else record_dtype(dtype)
    if isinstance(x, RecordArray):
        if wanted is None or wanted == x.dtype:
            made = _on(x, device)
            return x.copy() if copy is True and made is x else made
        return _on(x.astype(wanted), device)
    if type(x) in (list, tuple):
        if wanted is None and not _begins_with_record(x):
            return None
        x = numpy.array(_numpys_items(x), wanted)
        copy = True
    given = host_value(x)
    if wanted is not None and not isinstance(given, (numpy.ndarray, numpy.void)):
        given, copy = numpy.array(given, wanted), True
    if not isinstance(given, (numpy.ndarray, numpy.void)):
        return None
    if wanted is not None and given.dtype != wanted:
        given, copy = given.astype(wanted), True
    if given.dtype.names is None or given.dtype.hasobject:
        return None
    if isinstance(given, numpy.void):
        return from_numpy(numpy.array(given), device=device)
    if copy is True or not (shares or copy is False or _is_shared_anyway(given)):
        return from_numpy(given, device=device)
    return _on(shared(given), device)


def _is_shared_anyway(array):
    """Whether un.asarray shares the memory: a view of unisono's memory, or a mapped file."""
    memory = array
    while memory is not None and not isinstance(memory, _engine._Array):
        memory = memory.obj if isinstance(memory, memoryview) else getattr(memory, "base", None)
    return memory is not None or is_mapped(array)


def _begins_with_record(x):
    import numpy

    while type(x) in (list, tuple) and x:
        x = x[0]
    return isinstance(x, (numpy.void, RecordArray)) and x.dtype.names is not None


def _numpys_items(x):
    return type(x)(map(_numpys_items, x)) if type(x) in (list, tuple) else host_value(x)


def by_numpy(function, *args, **options):
    """Apply a NumPy function, given or by name, to records, and convert its results."""
    if isinstance(function, str):
        import numpy

        function = getattr(numpy, function)
    made = function(*map(_numpys_items, args), **{k: _numpys_items(v) for k, v in options.items()})
    out = options.get("out")
    return out if out is not None else _all_ours(made)


def _all_ours(made):
    import numpy

    if type(made) in (tuple, list):
        return type(made)(map(_all_ours, made))
    return ours(made.copy()) if isinstance(made, numpy.ndarray) else made
