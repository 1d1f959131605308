"""Global arrays behind their handles: what is asked of an array, and the memory of its ranks."""

from itertools import count
from math import prod

import numpy as np

import unisono as un

from .. import mpi
from . import _distributions
from ._groups import MIRROR, group_of, pgroup_get_default

# GA's numbers of types.
TYPE_BASE = 1000
_names = """
    C_CHAR C_INT C_LONG C_FLOAT C_DBL C_LDBL C_SCPL C_DCPL C_LDCPL F_BYTE F_INT F_LOG F_REAL F_DBL F_SCPL F_DCPL
    C_LONGLONG""".split()
types = {name: TYPE_BASE + i for i, name in enumerate(_names)}
C_INT, C_LONG, C_LONGLONG = (types[n] for n in ("C_INT", "C_LONG", "C_LONGLONG"))
to_dtype = {
    types["C_CHAR"]: np.dtype("int8"),
    C_INT: np.dtype("int32"),
    C_LONG: np.dtype("int64"),
    C_LONGLONG: np.dtype("int64"),
    types["C_FLOAT"]: np.dtype("float32"),
    types["C_DBL"]: np.dtype("float64"),
    types["C_LDBL"]: np.dtype("longdouble"),
    types["C_SCPL"]: np.dtype("complex64"),
    types["C_DCPL"]: np.dtype("complex128"),
    types["C_LDCPL"]: np.dtype("clongdouble"),
}
_native = {np.dtype(t) for t in "int8 int32 int64 float32 float64 complex64 complex128".split()}

handles = {}
_next = count(-1000)
_next_type = count(TYPE_BASE + 256)
state = {"limit": 0, "debug": False, "mask": (True, True), "initialized": False}
statistics = dict.fromkeys(
    "create destroy get put acc scatter gather read_inc bytes_get bytes_put bytes_acc peak".split(),
    0,
)


def ints(values):
    """A list of ints of a number or a sequence of numbers."""
    return [int(v) for v in np.atleast_1d(np.asarray(values)).ravel()]


class GlobalArray:
    """An array over the ranks of a group: first described, then allocated."""

    def __init__(self):
        self.name = ""
        self.gtype = self.dims = None
        self.chunk = self.irregular = self.cyclic = self.proc_grid = self.restricted = None
        self.width = None
        self.pgroup = pgroup_get_default()
        self.window = None

    # Description.

    @property
    def dtype(self):
        """NumPy's dtype of the elements."""
        return to_dtype[self.gtype]

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.dims)

    @property
    def native(self):
        """Whether the package computes with such elements; of others it moves the bytes."""
        return self.dtype in _native

    def allocate(self):
        """Make the memory; all ranks of the group call. False beyond the limit of memory."""
        self.group = group_of(self.pgroup)
        self.comm, ranks = self.group.comm, self.group.size
        self.width = self.width or [0] * self.ndim
        if self.cyclic:
            made = _distributions.cyclic(self.dims, self.cyclic, ranks, self.proc_grid)
        else:
            places = len(self.restricted) if self.restricted else ranks
            if self.irregular:
                made = _distributions.irregular(self.dims, *self.irregular, places)
            else:
                made = _distributions.regular(self.dims, self.chunk, places)
            made.ranks, made.restricted = ranks, self.restricted
        self.distribution = made
        self.mirrored = self.pgroup == MIRROR
        if self.comm is None:
            return True
        self.rank = self.comm.rank
        elements = sum(prod(self.padded(b)) for b in made.blocks_of(self.rank))
        bytes_wanted = elements * self.dtype.itemsize
        allowed = state["limit"] == 0 or bytes_in_use() + bytes_wanted <= state["limit"]
        if not self.comm.allreduce(allowed, mpi.LAND):
            return False
        if self.native:
            self.window = mpi.window(elements, self.dtype, self.comm)
        else:
            self.window = mpi.window(bytes_wanted, "uint8", self.comm)
        self.window.fence()
        self.bytes = bytes_wanted
        statistics["create"] += 1
        statistics["peak"] = max(statistics["peak"], bytes_in_use() + bytes_wanted)
        return True

    def padded(self, block):
        """Extents of a block's memory, ghosts included."""
        lo, hi = self.distribution.bounds(block)
        shape = [max(b - a, 0) for a, b in zip(lo, hi, strict=True)]
        if not prod(shape):
            return shape
        return [n + 2 * w for n, w in zip(shape, self.width, strict=True)]

    # Memory.

    def memory(self, rank):
        """All elements that a rank holds, one after another; the rank must be on this node."""
        flat = self.window.view(rank)
        return flat if self.native else np.asarray(flat).view(self.dtype)

    def block(self, number, ghosts=False):
        """A block of a rank of this node, as an array that shares the memory."""
        owner, shape = self.distribution.owner(number), self.padded(number)
        at = self.distribution.offset(number)
        whole = self.memory(owner)[at : at + prod(shape)].reshape(tuple(shape))
        if ghosts or not any(self.width):
            return whole
        return whole[tuple(slice(w, n - w) for w, n in zip(self.width, shape, strict=True))]

    def pieces(self, lo, hi, step=None):
        """The parts of a patch on each rank: rank, first element, shape, strides, and the slices of a buffer."""
        step = step or [1] * self.ndim
        for number in self.distribution.touched(lo, hi):
            first, last = self.distribution.bounds(number)
            owner, padded = self.distribution.owner(number), self.padded(number)
            start, stride = self.distribution.offset(number), 1
            shape, strides, slices = [], [], []
            for k in reversed(range(self.ndim)):
                i = -(-max(first[k] - lo[k], 0) // step[k])
                begin = lo[k] + i * step[k]
                n = max(-(-(min(hi[k], last[k]) - begin) // step[k]), 0)
                shape.append(n)
                strides.append(stride * step[k])
                slices.append(slice(i, i + n))
                start += (begin - first[k] + self.width[k]) * stride
                stride *= padded[k]
            if prod(shape):
                yield owner, start, shape[::-1], strides[::-1], tuple(slices[::-1])

    def section(self, start, shape, strides):
        """The arguments of a window's call; bytes where elements are not the package's."""
        if self.native:
            return start, shape, strides
        n = self.dtype.itemsize
        return start * n, [*shape, n], [s * n for s in strides] + [1]

    def read(self, lo, hi, step=None):
        """A patch as a new array."""
        shape = extents(lo, hi, step)
        made = un.empty if self.native else np.empty
        out = made(tuple(shape), dtype=self.dtype)
        self.read_into(out, lo, hi, step)
        return out

    def read_into(self, out, lo, hi, step=None):
        """Copy a patch into an array of its shape."""
        for owner, start, shape, strides, slices in self.pieces(lo, hi, step):
            packed = un.empty if self.native else np.empty
            whole = list(out.shape) == list(shape) and _packed(out)
            part = out if whole else packed(tuple(shape), dtype=self.dtype)
            self.window.get(self.raw(part), owner, *self.section(start, shape, strides))
            if not whole:
                out[slices] = part
        statistics["get"] += 1
        statistics["bytes_get"] += prod(extents(lo, hi, step)) * self.dtype.itemsize

    def raw(self, part):
        """What a window is given of an array."""
        return part if self.native else memoryview(part).cast("B")

    def write(self, values, lo, hi, step=None):
        """Copy an array into a patch of its shape."""
        for owner, start, shape, strides, slices in self.pieces(lo, hi, step):
            part = _contiguous(values[slices])
            self.window.put(self.raw(part), owner, *self.section(start, shape, strides))
        dirty.add(self)
        statistics["put"] += 1
        statistics["bytes_put"] += prod(extents(lo, hi, step)) * self.dtype.itemsize

    def add(self, values, lo, hi, step=None):
        """Add an array to a patch of its shape, each element atomically."""
        for owner, start, shape, strides, slices in self.pieces(lo, hi, step):
            part = _contiguous(values[slices])
            place = self.section(start, shape, strides)
            if self.native:
                self.window.accumulate(part, owner, place[0], 0, *place[1:])
                continue
            with self.window.locked(owner):
                before = np.empty(shape, self.dtype)
                self.window.get(self.raw(before), owner, *place)
                self.window.put(self.raw(before + part), owner, *place)
        dirty.add(self)
        statistics["acc"] += 1
        statistics["bytes_acc"] += prod(extents(lo, hi, step)) * self.dtype.itemsize

    # Own parts.

    def own(self, lo=None, hi=None):
        """Number and bounds of this rank's blocks, cut by a patch; those without elements left out."""
        for number in self.distribution.blocks_of(self.rank):
            first, last = self.distribution.bounds(number)
            if lo is not None:
                first = [max(a, b) for a, b in zip(first, lo, strict=True)]
                last = [min(a, b) for a, b in zip(last, hi, strict=True)]
            if all(a < b for a, b in zip(first, last, strict=True)):
                yield number, first, last

    def here(self, number, lo, hi):
        """The elements between lo and hi of one of this rank's blocks."""
        first, _ = self.distribution.bounds(number)
        return self.block(number)[
            tuple(slice(a - f, b - f) for a, b, f in zip(lo, hi, first, strict=True))
        ]

    def convert(self, value):
        """A multiplier or constant as an element of the array."""
        kind = self.dtype.kind
        if kind in "iu":
            return int(value)
        return complex(value) if kind == "c" else float(value)


dirty = set()  # arrays that were written since the last synchronisation


def extents(lo, hi, step=None):
    """Shape of a patch."""
    step = step or [1] * len(lo)
    return [max(-(-(b - a) // s), 0) for a, b, s in zip(lo, hi, step, strict=True)]


def _packed(array):
    if isinstance(array, np.ndarray):
        return array.flags.c_contiguous
    flags = getattr(array, "flags", None)
    return flags is not None and flags.c_contiguous


def _contiguous(part):
    if isinstance(part, np.ndarray):
        return np.ascontiguousarray(part)
    return part if _packed(part) else part.copy()


def array_of(g_a):
    """The array of a handle, allocated."""
    array = handles.get(int(g_a))
    if array is None:
        raise ValueError(
            f"ga: no such array; got handle {g_a}; expected a result of create, duplicate or create_handle"
        )
    return array


def allocated(g_a):
    """The array of a handle whose memory was made."""
    array = array_of(g_a)
    if array.window is None:
        raise ValueError(f"ga: array {g_a} has no memory on this rank; call allocate first")
    return array


def new_handle(array):
    """A handle of an array."""
    handle = next(_next)
    handles[handle] = array
    return handle


def bytes_in_use():
    """Bytes of all arrays on this rank."""
    return sum(a.bytes for a in handles.values() if a.window is not None)


def bounds(array, lo, hi):
    """lo and hi as lists: the whole array without both, one element without hi."""
    if lo is None and hi is None:
        return [0] * array.ndim, list(array.dims)
    if lo is None:
        raise ValueError("ga: hi was given without lo; give both")
    lo = ints(lo)
    hi = [a + 1 for a in lo] if hi is None else ints(hi)
    if len(lo) != array.ndim or len(hi) != array.ndim:
        raise ValueError(
            f"ga: bounds of another number of axes; got {lo} and {hi}; expected {array.ndim} numbers each"
        )
    return lo, hi


def inside(array, lo, hi):
    """Check that a patch lies in the array."""
    if any(a < 0 or b > n or a > b for a, b, n in zip(lo, hi, array.dims, strict=True)):
        raise ValueError(
            f"ga: a patch outside of the array; got {lo} to {hi}; expected bounds between 0 and {array.dims}"
        )


def flush():
    """Complete what was written to other ranks."""
    for array in list(dirty):
        if array.window is not None:
            array.window.flush()
    dirty.clear()


def synchronize(group):
    """Complete all writes and wait for the group's ranks."""
    flush()
    group.comm.Barrier()


class collective:
    """Synchronisation before and after a collective operation, unless `mask_sync` took it away."""

    def __init__(self, *arrays):
        self.group = arrays[0].group if arrays else group_of()

    def __enter__(self):
        first, self.last = state["mask"]
        state["mask"] = (True, True)
        if first:
            synchronize(self.group)

    def __exit__(self, *error):
        if self.last and error[0] is None:
            synchronize(self.group)


def register_dtype(dtype):
    """A new type of elements, of a NumPy dtype; returns its number."""
    number = next(_next_type)
    to_dtype[number] = np.dtype(dtype)
    return number


def register_type(bytes):
    """A new type of elements of so many bytes; returns its number."""
    return register_dtype(np.dtype((np.void, int(bytes))))


def deregister_type(type):
    """Forget a type that was registered."""
    if type < TYPE_BASE + 256 or to_dtype.pop(type, None) is None:
        raise ValueError(f"ga: no registered type; got {type}")
    return 1
