"""Windows with mpi4py's names, over the one-sided memory of `windows.py`."""

from ..._engine import CommValueError
from .._buffers.datatypes import Datatype, type_of
from .._info import Info
from .._operations import NO_OP, SUM, code_of
from .._types import _Request
from .memory import at_address, buffer
from .windows import ACCUMULATE, ATTACHED, CONTIGUOUS, GET, GIVEN, PUT, SHARED

LOCK_EXCLUSIVE, LOCK_SHARED = 1, 2
MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT, MODE_NOPRECEDE, MODE_NOSUCCEED = 1, 2, 4, 8, 16
WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL = range(7, 12)
WIN_FLAVOR_CREATE, WIN_FLAVOR_ALLOCATE, WIN_FLAVOR_DYNAMIC, WIN_FLAVOR_SHARED = range(1, 5)
WIN_SEPARATE, WIN_UNIFIED = 0, 1
_POSTED, _COMPLETED = 1, 2  # tags of the messages between epochs


class Win:
    """Memory of every rank that the others read and write, with mpi4py's names.

    A window is open for all ranks as long as it lives: `Lock`, `Fence` and `Post` order what is done and
    are not needed to be allowed it. Calls that return without a request have finished with the buffers of
    this rank. `un.mpi.window` gives the same with slices.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros(4)
    >>> win = un.mpi.Win.Create(x, disp_unit=8, comm=un.mpi.COMM_SELF)
    >>> win.Fence()
    >>> win.Put(un.ones(2), 0, target=1)
    >>> win.Fence()
    >>> x.tolist()
    [0.0, 1.0, 1.0, 0.0]
    >>> win.Free()
    """

    def __init__(self, win=None):
        self.__dict__.update(_NOTHING if win is None else win.__dict__)

    # Making and freeing.

    @classmethod
    def Create(cls, memory, disp_unit=1, info=None, comm=None):
        """Open the memory of an array or buffer on every rank of the communicator; None gives none."""
        return cls._made(memory, 0, disp_unit, info, comm, GIVEN, WIN_FLAVOR_CREATE)

    @classmethod
    def Allocate(cls, size, disp_unit=1, info=None, comm=None):
        """New memory of so many bytes on this rank, zeros."""
        return cls._made(None, size, disp_unit, info, comm, SHARED, WIN_FLAVOR_ALLOCATE)

    @classmethod
    def Allocate_shared(cls, size, disp_unit=1, info=None, comm=None):
        """The same for ranks of one node, whose memory follows one another and all of them see."""
        apart = (info or {}).get("alloc_shared_noncontig") == "true"
        kind = SHARED if apart else CONTIGUOUS
        return cls._made(None, size, disp_unit, info, comm, kind, WIN_FLAVOR_SHARED)

    @classmethod
    def Create_dynamic(cls, info=None, comm=None):
        """A window without memory, to which each rank attaches some; places in it are addresses (`MPI.Get_address`)."""
        return cls._made(None, 0, 1, info, comm, ATTACHED, WIN_FLAVOR_DYNAMIC)

    def Attach(self, memory):
        """Let others reach an array or buffer of this rank, until `Detach`; they are told its address."""
        self._of_addresses("Attach")._attach(memory)

    def Detach(self, memory):
        """Let others reach it no more: all have finished with it."""
        self._of_addresses("Detach")._detach(memory)

    def _of_addresses(self, call):
        window = self._open(call)
        if self._flavor != WIN_FLAVOR_DYNAMIC:
            raise ValueError(
                f"Win.{call}: the window has memory of its own; make one by Win.Create_dynamic"
            )
        return window

    @classmethod
    def _made(cls, memory, size, disp_unit, info, comm, kind, flavor):
        if comm is None:
            from .._job import connect

            comm = connect()["self"]
        if disp_unit < 1 or size < 0:
            raise ValueError(
                f"Win: the memory; got {size} bytes and disp_unit={disp_unit}; expected a size of 0 or more and "
                "a unit of 1 or more"
            )
        if kind == GIVEN and memory is None:
            memory = bytearray()
        made = cls()
        made._comm = comm.Dup()  # its messages are apart from the program's
        made._window = made._comm._window(size, "uint8", kind, memory)
        # Before ranks meet: one that fills its memory at once does so before others reach for it, as with other MPI.
        made._own = made._memory(made._window, made._comm.rank)
        made._units = made._comm.allgather(disp_unit)
        made._flavor, made._info, made.name = flavor, Info.Create(info), ""
        made._typed, made._locked = {}, {}
        return made

    def Free(self):
        """Close the window; all ranks do it together."""
        self._open("Free").fence()
        self._window._free()
        self._comm.Free()
        self.__dict__.update(_NOTHING)

    def _open(self, call):
        if self._window is None:
            raise ValueError(
                f"Win.{call}: the window was freed, or never made; got WIN_NULL; make one by Win.Create or Win.Allocate"
            )
        return self._window

    # What is known of it.

    def __bool__(self):
        return self._window is not None

    def __eq__(self, other):
        return self._window is other._window if isinstance(other, Win) else NotImplemented

    def __hash__(self):
        return hash(id(self._window))

    def __repr__(self):
        if self._window is None:
            return "Win(NULL)"
        size = self._window._bytes(self._comm.rank)
        return f"Win({size} bytes on rank {self._comm.rank} of {self._comm.size})"

    def __reduce__(self):
        if self._window is None:
            return "WIN_NULL" if self is WIN_NULL else (Win, ())
        raise ValueError("Win: an open window cannot be pickled")

    def Get_name(self):
        """Its name."""
        return self.name if self else "MPI_WIN_NULL"

    def Set_name(self, name):
        """Set its name."""
        self.name = name

    def Get_group(self):
        """The ranks that have it."""
        self._open("Get_group")
        return self._comm.Get_group()

    def Get_info(self):
        """The hints that it was made with."""
        self._open("Get_info")
        return self._info.Dup()

    def Set_info(self, info):
        """Set hints, which are kept alone."""
        self._open("Set_info")
        self._info.update(info)

    def Get_attr(self, keyval):
        """WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR or WIN_MODEL of it; None of others."""
        window = self._open("Get_attr")
        rank = self._comm.rank
        return {
            WIN_BASE: lambda: window._address(rank) if window._bytes(rank) else 0,
            WIN_SIZE: lambda: window._bytes(rank),
            WIN_DISP_UNIT: lambda: self._units[rank],
            WIN_CREATE_FLAVOR: lambda: self._flavor,
            WIN_MODEL: lambda: WIN_UNIFIED,
        }.get(keyval, lambda: None)()

    info = property(Get_info, Set_info, doc="The hints that it was made with.")
    group = property(Get_group, doc="The ranks that have it.")
    flavor = property(lambda self: self.Get_attr(WIN_CREATE_FLAVOR), doc="How it was made.")
    model = property(lambda self: self.Get_attr(WIN_MODEL), doc="WIN_UNIFIED.")
    group_size = property(lambda self: self.group.size, doc="Number of ranks that have it.")
    group_rank = property(lambda self: self.group.rank, doc="This rank's number among them.")

    @property
    def attrs(self):
        """The address, the bytes and the unit of displacements of this rank's memory."""
        return tuple(self.Get_attr(key) for key in (WIN_BASE, WIN_SIZE, WIN_DISP_UNIT))

    def tomemory(self):
        """This rank's memory, as an array of bytes that shares it."""
        self._open("tomemory")
        return self._own

    def Shared_query(self, rank):
        """The memory of a rank of the same node, and its unit of displacements; of PROC_NULL, of the first rank that has some."""
        window = self._open("Shared_query")
        if rank == -2:  # PROC_NULL
            sizes = [window._bytes(r) for r in range(self._comm.size)]
            rank = next((r for r, n in enumerate(sizes) if n), 0)
        if window._bytes(rank) and not window._address(rank):
            raise ValueError(
                f"Win.Shared_query: the memory of rank {rank} is not seen here; make the window by Win.Allocate_shared"
            )
        return self._memory(window, rank), self._units[rank]

    @staticmethod
    def _memory(window, rank):
        nbytes = window._bytes(rank)
        if not nbytes:
            return buffer.allocate(0)
        return buffer.frombuffer(at_address(window._address(rank), nbytes, window))

    # Moving elements.

    def Put(self, origin, target_rank, target=None):
        """Write elements into a rank's memory, at `target`: a displacement, or (displacement, count, type)."""
        for run in self._runs("Put", origin, target_rank, target):
            self._window.put(*run)

    def Get(self, origin, target_rank, target=None):
        """Read elements of a rank's memory."""
        for run in self._runs("Get", origin, target_rank, target):
            self._window.get(*run)

    def Accumulate(self, origin, target_rank, target=None, op=SUM):
        """Combine elements of a rank's memory with others, each in one step."""
        window = self._elements("Accumulate", origin)
        for values, rank, start, *section in self._runs(
            "Accumulate", origin, target_rank, target, window
        ):
            code = code_of(op, "Accumulate", window.dtype)
            window.accumulate(values, rank, start, code, *section)

    def Get_accumulate(self, origin, result, target_rank, target=None, op=SUM):
        """Combine elements of a rank's memory with others, and read what they were, each in one step."""
        window = self._elements("Get_accumulate", result)
        code = code_of(op, "Get_accumulate", window.dtype)
        for out, rank, start, *section in self._runs(
            "Get_accumulate", result, target_rank, target, window
        ):
            values = out if op is NO_OP else origin
            window._get_accumulate(values, out, rank, start, code, *(section or (None, None)))

    def Fetch_and_op(self, origin, result, target_rank, target_disp=0, op=SUM):
        """Combine one element of a rank's memory with another, and read what it was, in one step."""
        self.Get_accumulate(origin, result, target_rank, target_disp, op)

    def Compare_and_swap(self, origin, compare, result, target_rank, target_disp=0):
        """Set one element of a rank's memory to that of `origin` if it is that of `compare`; `result` has what it was."""
        window = self._elements("Compare_and_swap", result)
        for out, rank, start in self._runs(
            "Compare_and_swap", result, target_rank, target_disp, window
        ):
            window._compare_and_swap(compare, origin, rank, start, out)

    def Rput(self, origin, target_rank, target=None):
        """Start to write elements, which must stay as they are until the request is done."""
        return self._started(PUT, self._runs("Rput", origin, target_rank, target))

    def Rget(self, origin, target_rank, target=None):
        """Start to read elements."""
        return self._started(GET, self._runs("Rget", origin, target_rank, target))

    def Raccumulate(self, origin, target_rank, target=None, op=SUM):
        """Start to combine elements."""
        window = self._elements("Raccumulate", origin)
        runs = self._runs("Raccumulate", origin, target_rank, target, window)
        return self._started(ACCUMULATE, runs, window, code_of(op, "Raccumulate", window.dtype))

    def Rget_accumulate(self, origin, result, target_rank, target=None, op=SUM):
        """Combine elements and read what they were; the request is done."""
        self.Get_accumulate(origin, result, target_rank, target, op)
        return _Request._nothing()

    def _started(self, what, runs, window=None, code=0):
        window = window or self._window
        requests = [
            window._start(what, values, rank, start, code, *section)
            for values, rank, start, *section in runs
        ]
        for request in requests[1:]:
            request.Wait()
        return requests[0] if requests else _Request._nothing()

    def _elements(self, call, spec):
        """The window as one of elements of the buffer's type."""
        self._open(call)
        dtype = _element_type(spec)
        if dtype not in self._typed:
            typed = self._window._typed(dtype)
            typed.dtype = str(dtype)
            self._typed[dtype] = typed, dtype.itemsize
        return self._typed[dtype][0]

    def _runs(self, call, origin, rank, target, window=None):
        """The buffer, the rank, and the first element, and for some the shape and strides, of blocks of its memory."""
        self._open(call)
        if rank == -2:  # PROC_NULL
            return []
        if not 0 <= rank < self._comm.size:
            raise CommValueError(
                f"Win.{call}: no such rank; got {rank}; expected 0 to {self._comm.size - 1} (MPI_ERR_RANK)"
            )
        disp, count, kind = _target(target, call)
        item = 1 if window is None else self._typed[_element_type(origin)][1]
        at = disp * self._units[rank]
        if at % item:
            raise ValueError(
                f"Win.{call}: elements of {item} bytes at byte {at} of rank {rank}; expected a multiple of {item}"
            )
        if count is None:
            return [(origin, rank, at // item)]
        type_ = kind if isinstance(kind, Datatype) else None
        size = type_.size if type_ else (type_of(kind) or _element_type(origin)).itemsize
        if type_ is None or type_._places is None:
            return [(origin, rank, at // item, [count * size // item], [1])]
        step = type_.dtype.itemsize
        return list(_blocks(origin, rank, at, type_, count, step, item))

    # Epochs.

    def Fence(self, assertion=0):
        """Wait for all ranks; what any of them did is there for all."""
        self._open("Fence").fence()

    def Lock(self, rank, lock_type=LOCK_EXCLUSIVE, assertion=0):
        """Take the lock of a rank's memory, alone or (LOCK_SHARED) with others that share it."""
        window = self._open("Lock")
        if rank != -2 and not assertion & MODE_NOCHECK:
            window.lock(rank, lock_type == LOCK_SHARED)
            self._locked[rank] = True
        elif rank != -2:
            self._locked[rank] = False

    def Unlock(self, rank):
        """Give the lock back; what was done is there for all."""
        window = self._open("Unlock")
        if rank == -2:
            return
        if self._locked.pop(rank, True):
            window.unlock(rank)
        else:
            window.flush(rank)

    def Lock_all(self, assertion=0):
        """Share the locks of all ranks' memory."""
        for rank in range(self._comm.size if self else 0):
            self.Lock(rank, LOCK_SHARED, assertion)
        self._open("Lock_all")

    def Unlock_all(self):
        """Give the locks of all ranks' memory back."""
        self._open("Unlock_all")
        for rank in range(self._comm.size):
            self.Unlock(rank)

    def Flush(self, rank):
        """Wait until what was done to a rank's memory is there."""
        window = self._open("Flush")
        if rank != -2:
            window.flush(rank)

    def Flush_all(self):
        """Wait until what was done to any rank's memory is there."""
        self._open("Flush_all").flush(-1)

    Flush_local = Flush
    Flush_local_all = Flush_all

    def Sync(self):
        """See what others have done to this rank's memory."""
        window = self._open("Sync")
        window.flush(self._comm.rank)

    def Post(self, group, assertion=0):
        """Let the ranks of a group begin with this rank's memory; `Wait` waits for them."""
        self._open("Post").flush(-1)
        self._origins = self._numbers(group)
        for rank in self._origins:
            self._comm.Bsend(b"", rank, _POSTED)

    def Start(self, group, assertion=0):
        """Wait until the ranks of a group have posted their memory."""
        self._open("Start")
        self._targets = self._numbers(group)
        for rank in self._targets:
            self._comm.Recv(bytearray(), rank, _POSTED)

    def Complete(self):
        """Wait until what was done since `Start` is there, and tell its ranks."""
        self._open("Complete").flush(-1)
        for rank in self._targets:
            self._comm.Bsend(b"", rank, _COMPLETED)
        self._targets = ()

    def Wait(self):
        """Wait until the ranks that `Post` let begin have completed."""
        window = self._open("Wait")
        for rank in self._origins:
            self._comm.Recv(bytearray(), rank, _COMPLETED)
        self._origins = ()
        window.flush(self._comm.rank)

    def Test(self):
        """Whether they have completed; if so the same as `Wait`."""
        self._open("Test")
        if not all([self._comm.Iprobe(rank, _COMPLETED) for rank in self._origins]):
            return False
        self.Wait()
        return True

    def _numbers(self, group):
        return group.Translate_ranks(None, self._comm.Get_group())


_NOTHING = {
    "_window": None,
    "_own": None,
    "_comm": None,
    "_origins": (),
    "_targets": (),
    "name": "",
}
WIN_NULL = Win()


def _target(target, call):
    """The displacement, count and type of a place in a window."""
    if target is None:
        return 0, None, None
    if hasattr(target, "__index__"):
        return target.__index__(), None, None
    if not isinstance(target, list | tuple) or len(target) > 3:
        raise TypeError(
            f"Win.{call}: a place in a window; got {target!r}; expected a displacement, (displacement, count) or "
            "(displacement, count, type)"
        )
    disp, count, kind = [*target, *[None] * (3 - len(target))]
    return disp or 0, count, kind


def _element_type(spec):
    """NumPy's dtype of the elements of a buffer, or of [buffer, count, type]."""
    import numpy

    if isinstance(spec, list | tuple):
        given = type_of(spec[-1]) if len(spec) > 1 else None
        return _element_type(spec[0]) if given is None else given
    dtype = getattr(spec, "dtype", None)
    return numpy.dtype(str(dtype)) if dtype is not None else numpy.asarray(memoryview(spec)).dtype


def _blocks(origin, rank, at, type_, count, step, item):
    """Blocks of elements that lie apart, as sections: one where the distances are equal."""
    places = [k * type_._extent + p for k in range(count) for p in type_._places]
    runs = []  # first place and number of those that follow one another
    for place in places:
        if runs and place == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    each = step // item
    steps = {b[0] - a[0] for a, b in zip(runs, runs[1:], strict=False)}
    if len({n for _, n in runs}) == 1 and len(steps) <= 1:
        start = at // item + runs[0][0] * each
        yield (
            origin,
            rank,
            start,
            [len(runs), runs[0][1] * each],
            [(steps.pop() if steps else 1) * each, 1],
        )
        return
    taken, memory = 0, memoryview(origin[0] if isinstance(origin, list | tuple) else origin)
    memory = memory.cast("B")
    for first, n in runs:
        part = memory[taken * step : (taken + n) * step]
        if item > 1:
            part = part.cast(type_.dtype.char)
        yield part, rank, at // item + first * each
        taken += n
