"""Types of elements with MPI's names, those made of others, and the memory that ``[buffer, count, type]`` means."""

from ..._engine import UnsupportedError
from .recipes import combiners, remembered

ORDER_C, ORDER_F = 56, 57  # Open MPI's and MPICH's
DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_NONE, DISTRIBUTE_DFLT_DARG = 0, 1, 2, -1


def _dealt(extent, how, block, parts, part):
    """The indices of an axis that one of its parts has."""
    if how == DISTRIBUTE_NONE:
        return range(extent)
    if block == DISTRIBUTE_DFLT_DARG:
        block = -(-extent // parts) if how == DISTRIBUTE_BLOCK else 1
    if how == DISTRIBUTE_BLOCK and block * parts < extent:
        raise ValueError(
            f"Create_darray: {parts} blocks of {block} indices do not hold an axis of {extent}"
        )
    return [i for i in range(extent) if i // block % parts == part]


def _of_name(name):
    return named[name]


class Datatype:
    """The type of the elements of a message: a number, or places among numbers that lie apart.

    Examples
    --------
    >>> import unisono as un
    >>> column = un.mpi.DOUBLE.Create_vector(
    ...     3, 1, 4
    ... ).Commit()  # of a matrix of 3 rows and 4 columns
    >>> comm, u, got = un.mpi.COMM_SELF, un.arange(12.0), un.zeros(3)
    >>> comm.Sendrecv([u, 1, column], 0, 0, got, 0, 0)
    >>> got.tolist()
    [0.0, 4.0, 8.0]
    """

    _recipe = None  # of a type that was made of others: how

    def __init__(self, name="DATATYPE_NULL", dtype=None, places=None, extent=1):
        if isinstance(name, Datatype):  # another name of the same type
            self.__dict__.update(name.__dict__)
            return
        if not isinstance(name, str):
            raise TypeError(f"Datatype: got {type(name).__name__}; expected a Datatype")
        self.name = name
        self._given = dtype
        self._places = places  # of the elements, counted in elements; None: one element
        self._extent = extent  # from one to the next, in elements

    def __reduce__(self):
        if named.get(self.name) is self:
            return _of_name, (self.name,)
        return super().__reduce__()

    @property
    def dtype(self):
        """NumPy's dtype of the elements; None of DATATYPE_NULL."""
        import numpy  # when it is asked for: the importing of modules from rank 0 begins with this package

        return None if self._given is None else numpy.dtype(self._given, align=True)

    def __repr__(self):
        return f"unisono.mpi.{self.name}" if self._places is None else f"Datatype({self.name})"

    def __eq__(self, other):
        if not isinstance(other, Datatype):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return (self.name, self.dtype, self._places, self._extent)

    def __bool__(self):
        return self._given is not None

    def _own(self):
        return (0,) if self._places is None else self._places

    @property
    def size(self):
        """Bytes of the elements of one."""
        fields = self.dtype.fields  # of a pair: without the gap behind it
        item = sum(f[0].itemsize for f in fields.values()) if fields else self.dtype.itemsize
        return len(self._own()) * item

    @property
    def extent(self):
        """Bytes from one to the next."""
        return self._extent * self.dtype.itemsize

    def Get_size(self):
        """Bytes of the elements of one."""
        return self.size

    def Get_extent(self):
        """The lower bound and the bytes from one to the next."""
        return 0, self.extent

    def Commit(self):
        """Return the type: nothing is to be done."""
        return self

    def Free(self):
        """Forget the type: nothing is to be done."""

    def _made(self, name, starts, extent):
        places = tuple(s + p for s in starts for p in self._own())
        return Datatype(f"{name} of {self.name}", self.dtype, places, extent)

    @remembered
    def Create_contiguous(self, count):
        """So many, one after the other."""
        starts = [k * self._extent for k in range(count)]
        return self._made("contiguous", starts, count * self._extent)

    @remembered
    def Create_vector(self, count, blocklength, stride):
        """Blocks at equal distances, which are counted in elements of this type."""
        starts = [(k * stride + j) * self._extent for k in range(count) for j in range(blocklength)]
        last = ((count - 1) * stride + blocklength) * self._extent if starts else 0
        return self._made("vector", starts, last)

    @remembered
    def Create_indexed(self, blocklengths, displacements):
        """Blocks of several lengths at places that are counted in elements of this type."""
        starts = [
            (d + j) * self._extent
            for n, d in zip(blocklengths, displacements, strict=True)
            for j in range(n)
        ]
        return self._made("indexed", starts, max(starts, default=-self._extent) + self._extent)

    @remembered
    def Create_indexed_block(self, blocklength, displacements):
        """Blocks of one length at places that are counted in elements of this type."""
        return self.Create_indexed([blocklength] * len(displacements), displacements)

    @remembered
    def Create_subarray(self, sizes, subsizes, starts, order=ORDER_C):
        """A block of an array, in C's order of axes, or Fortran's (ORDER_F)."""
        import numpy

        by = "F" if order == ORDER_F else "C"
        whole = numpy.arange(int(numpy.prod(sizes))).reshape(sizes, order=by)
        block = whole[tuple(slice(s, s + n) for s, n in zip(starts, subsizes, strict=True))]
        places = [int(p) * self._extent for p in block.reshape(-1, order=by)]
        return self._made("subarray", places, whole.size * self._extent)

    @remembered
    def Create_resized(self, lb, extent):
        """The same with another distance, in bytes, from one to the next."""
        step = self.dtype.itemsize
        if lb != 0:
            raise UnsupportedError(f"Create_resized: the lower bound; got {lb} bytes; expected 0")
        base = self if extent % step == 0 else self._in_bytes()
        return Datatype(self.name, base.dtype, base._own(), extent // base.dtype.itemsize)

    def _in_bytes(self):
        """The same places, counted in bytes."""
        step = self.dtype.itemsize
        places = tuple(p * step + k for p in self._own() for k in range(step))
        return Datatype(f"bytes of {self.name}", "u1", places, self.extent)

    @remembered
    def Create_hvector(self, count, blocklength, stride):
        """Blocks at equal distances, which are counted in bytes."""
        return self.Create_hindexed([blocklength] * count, [k * stride for k in range(count)])

    @remembered
    def Create_hindexed(self, blocklengths, displacements):
        """Blocks of several lengths at places that are counted in bytes."""
        step = self.dtype.itemsize
        base = self if all(d % step == 0 for d in displacements) else self._in_bytes()
        unit = base.dtype.itemsize
        starts = [
            d // unit + j * base._extent
            for n, d in zip(blocklengths, displacements, strict=True)
            for j in range(n)
        ]
        return base._made("hindexed", starts, max(starts, default=-base._extent) + base._extent)

    @remembered
    def Create_hindexed_block(self, blocklength, displacements):
        """Blocks of one length at places that are counted in bytes."""
        return self.Create_hindexed([blocklength] * len(displacements), displacements)

    @classmethod
    @remembered
    def Create_struct(cls, blocklengths, displacements, datatypes):
        """Blocks of several types at places that are counted in bytes."""
        places, end, align = [], 0, 1
        for n, d, kind in zip(blocklengths, displacements, datatypes, strict=True):
            own = kind._in_bytes()._own()
            places += [d + j * kind.extent + p for j in range(n) for p in own]
            end, align = max(end, d + n * kind.extent), max(align, kind.dtype.itemsize)
        return cls("struct", "u1", tuple(places), -(-end // align) * align)

    @remembered
    def Create_darray(self, size, rank, gsizes, distribs, dargs, psizes, order=ORDER_C):
        """What one of `size` ranks has of an array that is dealt out over a grid of them, in C's order of axes or Fortran's.

        Along each axis blocks go to one part of the grid after the other (DISTRIBUTE_CYCLIC) or are as large as
        necessary (DISTRIBUTE_BLOCK); `dargs` are their sizes. Ranks are counted along the last axis of the grid first.
        """
        import numpy

        if numpy.prod(psizes) != size:
            raise ValueError(f"Create_darray: the grid {list(psizes)} has not {size} ranks")
        parts = numpy.unravel_index(rank, psizes)
        axes = zip(gsizes, distribs, dargs, psizes, parts, strict=True)
        indices = [_dealt(*axis) for axis in axes]
        by = "F" if order == ORDER_F else "C"
        whole = numpy.arange(int(numpy.prod(gsizes))).reshape(gsizes, order=by)
        places = whole[numpy.ix_(*indices)].reshape(-1, order=by)
        return self._made(
            "darray", [int(p) * self._extent for p in places], whole.size * self._extent
        )

    def Get_envelope(self):
        """How many numbers, addresses, counts and types it was made from, and how (COMBINER_...)."""
        if self._recipe is None:
            return 0, 0, 0, 0, combiners["NAMED"]
        contents = self._recipe.contents()
        return (*(len(c) for c in contents), combiners[self._recipe.name])

    def Get_contents(self):
        """The numbers, addresses, counts and types it was made from, in MPI's order."""
        if self._recipe is None:
            raise ValueError(f"Get_contents: {self!r} is one of MPI's types, not made of others")
        return self._recipe.contents()

    def decode(self):
        """The type it was made of, how, and the arguments: ``getattr(type, "Create_" + how.lower())(**arguments)``."""
        if self._recipe is None:
            return self, "NAMED", {}
        types, arguments = self._recipe.types, dict(self._recipe.arguments)
        return types[0] if len(types) == 1 else named["DATATYPE_NULL"], self._recipe.name, arguments

    envelope = property(Get_envelope, doc="What `Get_envelope` returns.")
    contents = property(Get_contents, doc="What `Get_contents` returns.")
    combiner = property(lambda self: self.Get_envelope()[-1], doc="How it was made.")

    @remembered
    def Dup(self):
        """The same type."""
        return Datatype(self.name, self.dtype, self._places, self._extent)

    Create_dup = Dup

    def Get_name(self):
        """Its name."""
        return f"MPI_{self.name}" if self.is_named else self.name

    def Set_name(self, name):
        """Set its name."""
        self.name = name.removeprefix("MPI_") if self.is_named else name

    def Get_true_extent(self):
        """The first byte of its elements, and the bytes to the end of the last."""
        own, step = self._own(), self.dtype.itemsize
        low = min(own, default=0)
        return low * step, (max(own, default=-1) + 1 - low) * step

    lb = property(lambda self: 0, doc="The first byte.")
    ub = property(lambda self: self.extent, doc="The byte where the next one begins.")
    true_lb = property(
        lambda self: self.Get_true_extent()[0], doc="The first byte of its elements."
    )
    true_extent = property(
        lambda self: self.Get_true_extent()[1],
        doc="Bytes from its first element to the end of its last.",
    )
    true_ub = property(
        lambda self: sum(self.Get_true_extent()), doc="The byte behind its last element."
    )
    is_named = is_predefined = property(
        lambda self: self._recipe is None, doc="Whether it is one of MPI's types of numbers."
    )
    typechar = property(lambda self: self.dtype.char, doc="NumPy's character of the elements.")
    typestr = property(lambda self: self.dtype.str, doc="NumPy's code of the elements.")

    @classmethod
    def fromcode(cls, code):
        """The type of elements of a dtype that NumPy knows by this code."""
        import numpy

        wanted = numpy.dtype(code)
        for kind in named.values():
            if kind and kind.dtype == wanted:
                return kind
        raise ValueError(
            f"Datatype.fromcode: no type of MPI; got {code!r}; expected a code of numbers"
        )

    def tocode(self):
        """NumPy's code of the elements."""
        return self.dtype.str[1:]

    def Pack_size(self, count, comm):
        """Bytes that so many of these take when packed."""
        return count * self.size

    def Pack(self, inbuf, outbuf, position, comm):
        """Put elements of a buffer into bytes, from a position on; the position behind them."""
        import numpy

        packed = specified((inbuf, self), False)
        packed = numpy.ascontiguousarray(inbuf if packed is None else packed).view("u1").reshape(-1)
        end = position + packed.size
        memoryview(outbuf).cast("B")[position:end] = memoryview(packed)
        return end

    def Unpack(self, inbuf, position, outbuf, comm):
        """Fill a buffer with elements from bytes, from a position on; the position behind them."""
        import numpy

        target = specified((outbuf, self), True)
        is_apart = hasattr(target, "room")
        room = target.room if is_apart else numpy.asarray(target)
        flat = room.reshape(-1).view("u1")
        end = position + flat.size
        flat[:] = numpy.frombuffer(memoryview(inbuf).cast("B")[position:end], "u1")
        if is_apart:
            target.put(room)
        return end


_names = {
    "BYTE": "u1", "CHAR": "S1", "SIGNED_CHAR": "i1", "UNSIGNED_CHAR": "u1", "SHORT": "h", "UNSIGNED_SHORT": "H",
    "INT": "i", "UNSIGNED": "I", "UNSIGNED_INT": "I", "LONG": "l", "UNSIGNED_LONG": "L", "LONG_LONG": "q",
    "UNSIGNED_LONG_LONG": "Q", "FLOAT": "f", "DOUBLE": "d", "LONG_DOUBLE": "g", "BOOL": "?", "C_BOOL": "?",
    "CXX_BOOL": "?", "COMPLEX": "F", "C_COMPLEX": "F", "C_FLOAT_COMPLEX": "F", "DOUBLE_COMPLEX": "D",
    "C_DOUBLE_COMPLEX": "D", "C_LONG_DOUBLE_COMPLEX": "G", "INT8_T": "i1", "INT16_T": "i2", "INT32_T": "i4",
    "INT64_T": "i8", "UINT8_T": "u1", "UINT16_T": "u2", "UINT32_T": "u4", "UINT64_T": "u8", "AINT": "i8",
    "OFFSET": "i8", "COUNT": "i8", "REAL4": "f4", "REAL8": "f8", "INTEGER4": "i4", "INTEGER8": "i8",
    "SIGNED_SHORT": "h", "SIGNED_INT": "i", "SIGNED_LONG": "l", "SIGNED_LONG_LONG": "q", "SINT8_T": "i1", "SINT16_T": "i2",
    "SINT32_T": "i4", "SINT64_T": "i8", "WCHAR": "i4", "CHARACTER": "S1", "LOGICAL": "i", "INTEGER": "i", "REAL": "f",
    "DOUBLE_PRECISION": "d", "INTEGER1": "i1", "INTEGER2": "i2", "REAL2": "e", "REAL16": "g", "COMPLEX32": "G", "FLOAT16_T": "e", "FLOAT32_T": "f", "FLOAT64_T": "d",
    "LOGICAL1": "i1", "LOGICAL2": "i2", "LOGICAL4": "i4", "LOGICAL8": "i8", "SHORT_INT": "h,i", "TWOINT": "i,i",
    "INT_INT": "i,i", "LONG_INT": "l,i", "FLOAT_INT": "f,i", "DOUBLE_INT": "d,i", "LONG_DOUBLE_INT": "g,i", "COMPLEX8": "F", "COMPLEX16": "D",
    "CXX_FLOAT_COMPLEX": "F", "CXX_DOUBLE_COMPLEX": "D", "CXX_LONG_DOUBLE_COMPLEX": "G", "F_BOOL": "i", "F_INT": "i",
    "F_FLOAT": "f", "F_DOUBLE": "d", "F_COMPLEX": "F", "F_FLOAT_COMPLEX": "F", "F_DOUBLE_COMPLEX": "D", "PACKED": "u1",
}  # fmt: skip
named = {name: Datatype(name, code) for name, code in _names.items()}
for _name in ("BFLOAT16_T", "COMPLEX4", "INTEGER16", "LOGICAL16"):  # of no dtype here
    named[_name] = Datatype("DATATYPE_NULL", None)
named["DATATYPE_NULL"] = Datatype("DATATYPE_NULL", None)


class _Apart:
    """Elements that lie apart, for a receive: packed memory, whose contents go to their places afterwards."""

    def __init__(self, flat, places):
        self._flat = flat
        self._places = places
        self.room = flat[places]

    def put(self, room):
        self._flat[self._places] = room


def type_of(given):
    """The dtype that a type of MPI or a name of one means; None where `given` is neither."""
    if isinstance(given, Datatype):
        return given.dtype
    if isinstance(given, str):
        import numpy

        known = {"l": "LONG"}.get(given)
        return numpy.dtype(named[known].dtype if known else given)
    return None


def memory_of(buffer):
    """The object, or where it has no buffer protocol an array on its memory; TypeError where it has none."""
    try:
        memoryview(buffer)
        return buffer
    except (BufferError, ValueError):
        return buffer  # an array of a device
    except TypeError:
        return shared(buffer)


def shared(buffer):
    """An array on the memory of an object that knows DLPack, or CUDA's interface of arrays, alone."""
    import unisono

    if hasattr(buffer, "__dlpack__"):
        try:
            return unisono.from_dlpack(buffer)
        except TypeError:
            from .dlpack import array_of

            known = array_of(buffer)
            if known is None:
                raise
            return known
    if not hasattr(buffer, "__cuda_array_interface__"):
        raise TypeError(
            f"mpi: no memory; got {type(buffer).__name__}; expected an array or another object with the buffer protocol"
        )
    if any(str(d).startswith("cuda") for d in unisono.devices()):
        return unisono.asarray(buffer, copy=False)
    return _of_host(buffer)


def _of_host(buffer):
    """Memory that an object describes in CUDA's words, where no device of CUDA's is: the host's."""
    import numpy

    from .dlpack import Described

    told = {k: v for k, v in buffer.__cuda_array_interface__.items() if k != "stream"}
    return numpy.asarray(Described({**told, "version": 3}, buffer))


def is_message(spec):
    """Whether it is a list that begins with memory, or with nothing."""
    if not isinstance(spec, list | tuple) or not 0 < len(spec) <= 4:
        return False
    first = spec[0]
    if first is None:
        return True
    try:
        memoryview(first)
    except TypeError:
        return hasattr(first, "__dlpack__") or hasattr(first, "__cuda_array_interface__")
    except (BufferError, ValueError):
        return True  # one of a device
    return not isinstance(first, Datatype)


def _whole_numbers(rest):
    """Of what stands between a buffer and its type: the count and the first element; None where not given."""
    count = start = None
    if rest:
        count = rest[0]
        if isinstance(count, list | tuple):
            count, start = count
        if len(rest) > 1:
            start = rest[1]
    return None if count is None else int(count), 0 if start is None else int(start)


def specified(spec, writable):
    """The memory that ``[buffer]``, ``[buffer, type]``, ``[buffer, count, type]`` or ``[buffer, (count, first), type]`` means.

    None where `spec` is nothing of the kind.
    """
    if spec is None:
        return bytearray()
    if not is_message(spec):
        return None
    buffer, *rest = spec
    kind = rest.pop() if rest and isinstance(rest[-1], Datatype | str) else None
    count, start = _whole_numbers(rest)
    if buffer is None:
        if count:
            raise ValueError(f"mpi: no memory; got None for {count} elements; expected a buffer")
        return bytearray()
    if kind is None and count is None:
        return buffer
    buffer = _numpys_if_records(buffer)
    try:
        view = memoryview(buffer)
    except (BufferError, TypeError, ValueError):
        if hasattr(buffer, "reshape"):
            return _of_device(buffer, count, start)
        return specified([shared(buffer), *spec[1:]], writable)
    if isinstance(kind, Datatype) and kind._places is not None:
        return _apart(view, kind, count, start, writable)
    dtype = type_of(kind)
    step = view.itemsize if dtype is None else dtype.itemsize
    is_alike = dtype is None or (dtype.itemsize == view.itemsize)
    if is_alike and start == 0 and count in (None, view.nbytes // step):
        return buffer
    import numpy

    flat = _row(view, numpy.uint8) if view.nbytes else numpy.zeros(0, numpy.uint8)
    end = len(flat) // step if count is None else start + count
    if start < 0 or end * step > len(flat):
        raise ValueError(
            f"mpi: more elements than the buffer has; got {end - start} from {start} on; expected up to {len(flat) // step}"
        )
    part = flat[start * step : end * step]
    own = numpy.asarray(view).dtype if dtype is None else dtype
    return part.view(own)


def _numpys_if_records(buffer):
    """NumPy's view of an array of records on the host; another buffer as it is."""
    from ..._records.strided_memory import Strided

    if not isinstance(buffer, Strided):
        return buffer
    if not buffer._memory.is_on_host:
        raise UnsupportedError(
            f"mpi: parts of arrays of records on a device; got one on {buffer.device}; send the whole array"
        )
    return buffer._host()


def _row(view, dtype):
    """The elements of packed memory, in the order in which they lie there."""
    import numpy

    if view.c_contiguous or not view.contiguous:
        return numpy.frombuffer(view, dtype)
    return numpy.asarray(view).reshape(-1, order="F").view(dtype)


def _of_device(array, count, start):
    flat = array.reshape(-1)
    return flat[start:] if count is None else flat[start : start + count]


def _apart(view, kind, count, start, writable):
    import numpy

    flat = _row(view, kind.dtype)
    if count is None:
        count = max(0, (len(flat) - max(kind._places, default=0) - 1) // kind._extent + 1 - start)
    places = (
        numpy.arange(start, start + count)[:, None] * kind._extent + numpy.array(kind._places, int)
    ).reshape(-1)
    if places.size and (places.min() < 0 or places.max() >= len(flat)):
        raise ValueError(
            f"mpi: elements beyond the buffer; got places up to {places.max()}; expected less than {len(flat)}"
        )
    return _Apart(flat, places) if writable else flat[places]
