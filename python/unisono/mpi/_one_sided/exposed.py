"""One-sided access to distributed arrays: any rank reads and writes any elements, by their indices in the whole."""

from contextlib import contextmanager
from itertools import product
from math import prod

from ... import _engine
from .._operations import SUM, code_of
from .windows import fitted, made_window, selected


def expose(x):
    """Let every rank read and write any elements of a distributed array, without the others' doing.

    All ranks of the mesh make it together, and close it together, by ``with`` or ``close()``. Until then `x` keeps what
    it was; on closing it takes what was put. Statements that write `x` in between are lost.

    Parameters
    ----------
    x : ndarray
        Distributed over ``un.mesh("mpi")``, in any layout that gives each element to one rank.

    Returns
    -------
    Exposed
        ``get(key)``, ``put(key, values)``, ``accumulate(key, values, op)``, ``read_inc(index, inc)``; ``iget``, ``iput``
        and ``iaccumulate`` start them; ``fence()`` makes what was put visible to all ranks, ``locked(rank)`` excludes
        others. Keys are integers and slices of the whole array.

    Raises
    ------
    TypeError
        If `x` is not distributed over the ranks of an MPI job.
    ValueError
        If every rank has all of it.
    CommError
        If another rank does not come within ``UNISONO_COMM_TIMEOUT`` seconds.

    Examples
    --------
    >>> import unisono as un
    >>> m = un.mesh("mpi")
    >>> x = un.zeros((4, 3), mesh=m)
    >>> with un.mpi.expose(x) as g:
    ...     if m.rank == 0:
    ...         g.put((slice(1, 3), 2), [5.0, 6.0])
    ...     g.fence()
    ...     g.get((slice(None), 2)).tolist()
    [0.0, 5.0, 6.0, 0.0]
    >>> x[2].tolist()
    [0.0, 0.0, 6.0]
    """
    mesh = getattr(x, "device", None)
    if not isinstance(x, _engine._Array) or getattr(mesh, "kind", None) != "mpi":
        where = f" on {mesh}" if isinstance(x, _engine._Array) else ""
        raise TypeError(
            f"expose: no array of an MPI job's ranks; got {type(x).__name__}{where}; "
            "expected one made with mesh=un.mesh('mpi')"
        )
    entries, _, owner, _ = _engine._mesh_split(x)
    if mesh.size > 1 and not entries and owner < 0:
        raise ValueError(
            "expose: every rank has all of the array; expected one whose elements are spread over the ranks; "
            "expose x.to_layout('block')"
        )
    return Exposed(x)


class Exposed:
    """The elements of a distributed array, open to all ranks; `expose` makes it."""

    def __init__(self, x):
        self.array, self.shape, self.dtype = x, x.shape, x.dtype
        part = x.local
        self.window = made_window(part.shape, x.dtype)
        if part.size:
            self.window.local[...] = part
        self._owners = _engine._mesh_owners(x)
        self.window.fence()

    def __repr__(self):
        return f"Exposed({tuple(self.shape)}, {self.dtype}, {self.array.device!r})"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        # Other ranks may not be on their way here when one raises.
        if error is None:
            self.close()

    # Where elements are.

    def _pieces(self, ranges):
        """What each rank has of them: rank, first element, shape, strides, and slices of a buffer."""
        if not all(ranges):
            return
        box = [(min(r[0], r[-1]), max(r[0], r[-1]) + 1) for r in ranges]
        for rank, local, axes in self._owners.of(box):
            pitch = [prod(local[k + 1 :]) for k in range(len(axes))]
            cuts = [list(_cut(runs, wanted)) for runs, wanted in zip(axes, ranges, strict=True)]
            for cut in product(*cuts):
                start = sum(first * n for (first, _), n in zip(cut, pitch, strict=True))
                strides = [r.step * n for r, n in zip(ranges, pitch, strict=True)]
                slices = tuple(inside for _, inside in cut)
                shape = [s.stop - s.start for s in slices]
                if not axes:
                    shape, strides = [1], [1]
                yield rank, start, shape, strides, slices

    def _selected(self, key, what):
        if self.window is None:
            raise ValueError(f"{what}: the array is not exposed any more; call un.mpi.expose again")
        ranges, kept = selected(self.shape, key, what)
        return ranges, kept, tuple(len(r) for r in ranges)

    def _element(self, index, what):
        ranges, kept, _ = self._selected(index, what)
        if kept:
            raise IndexError(
                f"{what}: not one element; got {len(kept)} slices; expected {len(self.shape)} integers"
            )
        return next((rank, start) for rank, start, *_ in self._pieces(ranges))

    def owner(self, index):
        """The rank that has an element."""
        return self._element(index, "owner")[0]

    # Reading and writing.

    def get(self, key=...):
        """The elements that a key selects, an array of the host."""
        request, out = self._read(key, "get")
        request.wait()
        return out

    def put(self, key, values):
        """Set what a key selects to values of its shape, or that broadcast to it; all see it after ``fence()``."""
        for part, *place in self._written(key, values, "put"):
            self.window.put(part, *place)

    def accumulate(self, key, values, op=SUM):
        """Combine what a key selects with values, each element atomically."""
        code = code_of(op, "accumulate")
        for part, rank, start, shape, strides in self._written(key, values, "accumulate"):
            self.window.accumulate(part, rank, start, code, shape, strides)

    def read_inc(self, index, inc=1):
        """Add to one element and return what it was, in one step."""
        return self.window.read_inc(*self._element(index, "read_inc"), inc)

    def iget(self, key=...):
        """Start a get; ``wait()`` of what it returns gives the array."""
        return self._read(key, "iget")[0]

    def iput(self, key, values):
        """Start a put; the values may change at once, what ``wait()`` completes is the message."""
        made = Pending()
        for part, *place in self._written(key, values, "iput"):
            made.requests.append((self.window.iput(part, *place), part, None, None))
        return made

    def iaccumulate(self, key, values, op=SUM):
        """Start an accumulate."""
        made = Pending()
        for part, rank, start, shape, strides in self._written(key, values, "iaccumulate"):
            request = self.window.iaccumulate(part, rank, start, op, shape, strides)
            made.requests.append((request, part, None, None))
        return made

    def _read(self, key, what):
        import unisono

        ranges, kept, extents = self._selected(key, what)
        whole = unisono.empty(extents, self.dtype, device="cpu")
        made = Pending()
        for rank, start, shape, strides, slices in self._pieces(ranges):
            part = unisono.empty(tuple(shape), self.dtype, device="cpu")
            request = self.window.iget(part, rank, start, shape, strides)
            inside = part if slices else part.reshape(())
            made.requests.append((request, inside, whole, slices or ...))
        made.result = whole.reshape(kept)
        return made, made.result

    def _written(self, key, values, what):
        ranges, kept, extents = self._selected(key, what)
        if isinstance(getattr(values, "device", None), _engine.Mesh):
            raise TypeError(
                f"{what}: the values are distributed, which all ranks would have to send; expected an array of this "
                "rank; give values.local, or assign x[key] = values on all ranks"
            )
        values = fitted(values, self.dtype, kept).reshape(extents)
        for rank, start, shape, strides, slices in self._pieces(ranges):
            yield values[slices].copy().reshape(tuple(shape)), rank, start, shape, strides

    # Order.

    def fence(self):
        """Complete what all ranks put; all of them call."""
        self.window.fence()

    def flush(self, rank=-1):
        """Complete what this rank put into a rank's part, or all."""
        self.window.flush(rank)

    def lock(self, rank, shared=False):
        """Take the lock of a rank's part: one rank at a time has it, or several that share it."""
        self.window.lock(rank, shared)

    def unlock(self, rank):
        """Give the lock of a rank's part back."""
        self.window.unlock(rank)

    @contextmanager
    def locked(self, rank):
        """The lock of a rank's part, for the statements of a ``with``."""
        self.lock(rank)
        try:
            yield self
        finally:
            self.unlock(rank)

    def close(self):
        """Give the array what was put, and end the access; all ranks call."""
        if self.window is None:
            return
        self.window.fence()
        self.array.local = self.window.local.copy()
        self.window.free()
        self.window = None


class Pending:
    """One-sided calls under way, and where what is read goes."""

    def __init__(self):
        self.requests = []
        self.result = None

    def wait(self):
        """Complete them; of a get its array."""
        for request, part, out, slices in self.requests:
            request.Wait()
            if out is not None:
                out[slices] = part
        self.requests = []
        return self.result

    def test(self):
        """Whether they are done."""
        return all(request.Test() for request, *_ in self.requests)


def _cut(runs, wanted):
    """What runs have of a range: the place of the first in the part, and a slice of the range."""
    for first, end, at in runs:
        step, start = wanted.step, wanted.start
        if step > 0:
            i, j = -((start - first) // step), -((start - end) // step)
        else:
            i, j = (start - end) // -step + 1, (start - first) // -step + 1
        i, j = max(i, 0), min(j, len(wanted))
        if i < j:
            yield at + wanted[i] - first, slice(i, j)
