"""One-sided memory: every rank's part is read and written by the others."""

from contextlib import contextmanager
from math import prod

from .._operations import REPLACE, SUM, code_of
from .._types import _Window
from .memory import at_address

PUT, GET, ACCUMULATE = range(3)  # of `_start`, in the order of bindings/mpi/bind_mpi.cpp
OWN, SHARED, CONTIGUOUS, GIVEN, ATTACHED = range(
    5
)  # kinds of memory, in the order of engine/comm/messages.h


def window(shape, dtype="float64", comm=None, *, share=True):
    """Memory on every rank that the other ranks read and write, without the owner's doing.

    All ranks of the communicator make it together. Each rank's part starts as zeros.

    Parameters
    ----------
    shape : int or tuple of ints
        Of this rank's part; the ranks' may differ.
    dtype : dtype
    comm : Comm, optional
        `COMM_WORLD` by default.
    share : bool
        Where all ranks are on one node, whether they see each other's memory directly: reads and writes are copies
        then.

    Returns
    -------
    Window
        ``w.local`` is this rank's part, an array. ``w.put(values, rank, start)`` and ``w.get(out, rank, start)`` move
        packed runs of elements, ``w.accumulate(values, rank, start, op)`` combines them atomically; ``w[rank][key]``
        reads and writes parts by slices.

    Raises
    ------
    CommError
        If another rank does not come within ``UNISONO_COMM_TIMEOUT`` seconds.

    Examples
    --------
    >>> import unisono as un
    >>> w = un.mpi.window((2, 3), comm=un.mpi.COMM_SELF)
    >>> w[0][1, :] = [1, 2, 3]
    >>> w.fence()
    >>> w.local.tolist()
    [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
    >>> w.free()
    """
    made = made_window(shape, dtype, comm, share)
    made._shapes = made.comm.allgather(made.shape)
    return made


def made_window(shape, dtype, comm=None, share=True):
    """A window that knows the shape of this rank's part alone: only calls that say where elements lie."""
    import numpy

    if comm is None:
        from .._job import connect

        comm = connect()["world"]
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    dtype = numpy.dtype(dtype)
    made = comm._window(prod(shape), dtype, SHARED if share else OWN)
    made.shape, made.dtype, made.comm = shape, dtype, comm
    return made


class Part:
    """The memory of one rank of a window: indexing reads it, assignment writes it.

    Keys are integers and slices. What was written is there for the owner after ``fence()`` or ``flush()``.
    """

    def __init__(self, window, rank):
        self._window = window
        self.rank = rank
        self.shape = window._shapes[rank]

    def section(self, key):
        """First element, shape and strides (in elements) of a section, and the shape without integer axes."""
        return _section(self.shape, key)

    def __getitem__(self, key):
        import unisono

        start, shape, strides, kept = self.section(key)
        out = unisono.empty(shape, self._window.dtype, device="cpu")
        if prod(shape):
            self._window.get(out, self.rank, start, shape, strides)
        return out.reshape(kept) if kept else out.reshape(())[()]

    def __setitem__(self, key, values):
        start, shape, strides, kept = self.section(key)
        values = fitted(values, self._window.dtype, kept)
        if prod(shape):
            self._window.put(values, self.rank, start, shape, strides)

    def accumulate(self, key, values, op=SUM):
        """Combine a section with values, each element atomically.

        Parameters
        ----------
        key : ints and slices
        values : array_like
            Of the section's shape, or one that broadcasts to it.
        op : Op
        """
        start, shape, strides, kept = self.section(key)
        values = fitted(values, self._window.dtype, kept)
        if prod(shape):
            code = code_of(op, "accumulate")
            self._window.accumulate(values, self.rank, start, code, shape, strides)


def fitted(values, dtype, shape):
    """Values as a packed host array of that dtype and shape."""
    import unisono

    array = unisono.asarray(values, dtype=dtype, device="cpu")
    return array if array.shape == shape else unisono.broadcast_to(array, shape).copy()


def selected(shape, key, what="window"):
    """Of integers, slices and an ellipsis: a range for each axis, and the shape without integer axes."""
    key = key if isinstance(key, tuple) else (key,)
    if any(k is Ellipsis for k in key):
        at = next(i for i, k in enumerate(key) if k is Ellipsis)
        key = key[:at] + (slice(None),) * (len(shape) - len(key) + 1) + key[at + 1 :]
    if len(key) > len(shape):
        raise IndexError(f"{what}: too many indices; got {len(key)}; expected {len(shape)}")
    key += (slice(None),) * (len(shape) - len(key))
    ranges, kept = [], []
    for k, n in zip(key, shape, strict=True):
        if isinstance(k, slice):
            ranges.append(range(*k.indices(n)))
            kept.append(len(ranges[-1]))
            continue
        if not hasattr(k, "__index__"):
            raise TypeError(
                f"{what}: an index of another kind; got {type(k).__name__}; expected integers, slices and ..."
            )
        i = k.__index__()
        if not -n <= i < n:
            raise IndexError(f"{what}: index {i} is outside of an axis of {n}")
        ranges.append(range(i % n, i % n + 1))
    return ranges, tuple(kept)


def _section(shape, key):
    ranges, kept = selected(shape, key)
    steps = [prod(shape[k + 1 :]) for k in range(len(shape))]
    start = sum(r[0] * step for r, step in zip(ranges, steps, strict=True) if r)
    strides = [r.step * step for r, step in zip(ranges, steps, strict=True)]
    return start, [len(r) for r in ranges], strides, kept


class _Methods:
    """Methods of windows that are written in Python."""

    def __getitem__(self, rank):
        return Part(self, rank)

    def __repr__(self):
        return f"Window({self.shape}, {self.dtype}, {self.comm!r})"

    @property
    def local(self):
        """This rank's part, an array that shares the memory."""
        return self.view(self.comm.rank)

    def view(self, rank):
        """The part of a rank whose memory this process sees (``is_shared``), as an array."""
        import unisono

        shape = self.shape if rank == self.comm.rank else self._shapes[rank]
        address = self._address(rank)
        if not address:
            raise ValueError(
                f"view: the memory of rank {rank} is on another node, or not shared; use get"
            )
        if not prod(shape):
            return unisono.empty(shape, self.dtype)
        # The window lives as long as a view of it.
        memory = at_address(address, prod(shape) * self.dtype.itemsize, self)
        return unisono.frombuffer(memory, self.dtype).reshape(shape)

    def iput(self, values, rank, start=0, shape=None, strides=None):
        """Start a put; `values` must stay as they are until the request is done."""
        return self._start(PUT, values, rank, start, 0, shape, strides)

    def iget(self, out, rank, start=0, shape=None, strides=None):
        """Start a get."""
        return self._start(GET, out, rank, start, 0, shape, strides)

    def iaccumulate(self, values, rank, start=0, op=SUM, shape=None, strides=None):
        """Start an accumulate."""
        code = code_of(op, "iaccumulate")
        return self._start(ACCUMULATE, values, rank, start, code, shape, strides)

    def read_inc(self, rank, start=0, inc=1):
        """Add to one element and return what it was, in one step."""
        return self.fetch(inc, rank, start, SUM)

    def fetch(self, value, rank, start=0, op=REPLACE):
        """Combine one element with a value and return what it was, in one step."""
        return self._fetch(self._element(value), rank, start, code_of(op, "fetch"))

    def compare_and_swap(self, expected, value, rank, start=0):
        """Set one element if it is `expected`; returns what it was, in one step."""
        return self._compare_and_swap(self._element(expected), self._element(value), rank, start)

    def _element(self, value):
        import numpy

        return numpy.array([value]).astype(self.dtype, casting="same_kind")

    @contextmanager
    def locked(self, rank):
        """The lock of a rank's memory, for the statements of a ``with``."""
        self.lock(rank)
        try:
            yield self[rank]
        finally:
            self.unlock(rank)

    def free(self):
        """Give the memory back; all ranks do it together."""
        self.fence()
        self._free()


for _name, _method in list(vars(_Methods).items()):
    if not _name.startswith("__") or _name in ("__repr__", "__getitem__"):
        setattr(_Window, _name, _method)
Window = _Window
