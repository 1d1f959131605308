"""Files that all ranks read and write, with mpi4py's names: each rank calls the system for its own bytes."""

import os

from ._buffers.datatypes import memory_of, named, specified
from ._buffers.staging import assign, stage
from ._info import Info
from ._one_sided.windows import window
from ._operations import REPLACE
from ._types import _Request

MODE_CREATE, MODE_RDONLY, MODE_WRONLY, MODE_RDWR, MODE_DELETE_ON_CLOSE = 1, 2, 4, 8, 16
MODE_UNIQUE_OPEN, MODE_EXCL, MODE_APPEND, MODE_SEQUENTIAL = 32, 64, 128, 256
SEEK_SET, SEEK_CUR, SEEK_END = os.SEEK_SET, os.SEEK_CUR, os.SEEK_END
_BYTE = named["BYTE"]


class File:
    """A file of all ranks of a communicator: `File.Open`.

    Positions count elements of the view's type of elements (`Set_view`), bytes at first. Collective calls (``..._all``) do
    what the others do: each rank's bytes are written when its call returns. Calls with a request are done when they
    return.

    Examples
    --------
    >>> import os, tempfile
    >>> import unisono as un
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> comm = un.mpi.COMM_SELF
    >>> f = un.mpi.File.Open(comm, path, un.mpi.MODE_CREATE | un.mpi.MODE_RDWR)
    >>> f.Write_at_all(8 * comm.rank, un.arange(3.0))
    >>> got = un.zeros(2)
    >>> f.Read_at(8, got)
    >>> f.Close()
    >>> got.tolist()
    [1.0, 2.0]
    """

    def __init__(self, file=None):
        self.__dict__.update(_NOTHING if file is None else file.__dict__)

    @classmethod
    def Open(cls, comm, filename, amode=MODE_RDONLY, info=None):
        """Open a file on all ranks of the communicator."""
        kinds = amode & (MODE_RDONLY | MODE_WRONLY | MODE_RDWR)
        flags = {MODE_RDONLY: os.O_RDONLY, MODE_WRONLY: os.O_WRONLY, MODE_RDWR: os.O_RDWR}.get(
            kinds
        )
        if flags is None:
            raise ValueError(
                f"File.Open: the mode; got {amode}; expected one of MODE_RDONLY, MODE_WRONLY and MODE_RDWR, and what "
                "is added to it"
            )
        made = cls()
        made._path, made._amode, made._info = os.fspath(filename), amode, Info.Create(info)
        # The first rank creates it, and what goes wrong goes wrong on all.
        error = None
        if comm.rank == 0:
            create = os.O_CREAT if amode & MODE_CREATE else 0
            error = made._opened(flags | create | (os.O_EXCL if amode & MODE_EXCL else 0))
        error = comm.bcast(error)
        if error is None and comm.rank:
            error = made._opened(flags)
        errors = [e for e in comm.allgather(error) if e is not None]
        if errors:
            if made._number is not None:
                os.close(made._number)
            raise errors[0]
        made._comm = comm.Dup()
        made._shared = window(1 if comm.rank == 0 else 0, "int64", made._comm)
        made._set_view(0, _BYTE, _BYTE)
        if amode & MODE_APPEND:
            made._at = made.Get_size()
            if comm.rank == 0:
                made._shared.fetch(made._at, 0)
        made._comm.Barrier()
        return made

    def _opened(self, flags):
        try:
            self._number = os.open(self._path, flags, 0o666)
        except OSError as error:
            return error

    def Close(self):
        """Close the file, on all ranks together."""
        self._open("Close")
        self._comm.Barrier()
        os.close(self._number)
        if self._amode & MODE_DELETE_ON_CLOSE and self._comm.rank == 0:
            os.unlink(self._path)
        self._shared.free()
        self._comm.Barrier()
        self._comm.Free()
        self.__dict__.update(_NOTHING)

    @classmethod
    def Delete(cls, filename, info=None):
        """Delete a file."""
        os.unlink(filename)

    def _open(self, call):
        if self._number is None:
            raise ValueError(
                f"File.{call}: the file is closed, or was never opened; got FILE_NULL; open it by File.Open"
            )

    def __bool__(self):
        return self._number is not None

    def __eq__(self, other):
        return self._number == other._number if isinstance(other, File) else NotImplemented

    def __hash__(self):
        return hash(self._number)

    def __repr__(self):
        return f"File({self._path!r})" if self else "File(NULL)"

    # What is known of it.

    def Get_size(self):
        """Bytes of the file."""
        self._open("Get_size")
        return os.fstat(self._number).st_size

    def Set_size(self, size):
        """Cut or extend the file, on all ranks together."""
        self._open("Set_size")
        self._comm.Barrier()
        if self._comm.rank == 0:
            os.ftruncate(self._number, size)
        self._comm.Barrier()

    def Preallocate(self, size):
        """Make room for so many bytes, on all ranks together."""
        self._open("Preallocate")
        self._comm.Barrier()  # the size counts what all ranks have written
        self.Set_size(max(size, self.Get_size()))

    def Get_amode(self):
        """The mode that it was opened with."""
        self._open("Get_amode")
        return self._amode

    def Get_group(self):
        """The ranks that have it open."""
        self._open("Get_group")
        return self._comm.Get_group()

    def Get_info(self):
        """The hints that it was opened with."""
        self._open("Get_info")
        return self._info.Dup()

    def Set_info(self, info):
        """Set hints, which are kept alone."""
        self._info.update(info)

    def Get_atomicity(self):
        """Whether overlapping calls of several ranks take effect one after the other."""
        self._open("Get_atomicity")
        return self._atomic

    def Set_atomicity(self, flag):
        """Set it; the system decides what it is worth."""
        self._open("Set_atomicity")
        self._atomic = bool(flag)

    def Sync(self):
        """Write what is held back to the device, on all ranks together."""
        self._open("Sync")
        os.fsync(self._number)
        self._comm.Barrier()

    size = property(Get_size, doc="Bytes of the file.")
    amode = property(Get_amode, doc="The mode that it was opened with.")
    group = property(Get_group, doc="The ranks that have it open.")
    info = property(Get_info, Set_info, doc="The hints that it was opened with.")
    group_size = property(lambda self: self.group.size, doc="Number of ranks that have it open.")
    group_rank = property(lambda self: self.group.rank, doc="This rank's number among them.")
    atomicity = property(Get_atomicity, Set_atomicity, doc="Whether calls are atomic.")

    # Views.

    def Set_view(self, disp=0, etype=None, filetype=None, datarep="native", info=None):
        """What of the file this rank sees, from byte `disp` on: elements of `etype`, at the places of `filetype`."""
        self._open("Set_view")
        etype = etype or _BYTE
        filetype = filetype or etype
        if datarep not in ("native", "internal"):
            raise ValueError(
                f"File.Set_view: the form of the data; got {datarep!r}; expected 'native'"
            )
        if not filetype.size or filetype.size % etype.size:
            raise ValueError(
                f"File.Set_view: {filetype!r} of {filetype.size} bytes is not made of elements of {etype.size} bytes"
            )
        self._set_view(disp, etype, filetype)
        self._comm.Barrier()
        if self._comm.rank == 0:
            self._shared.fetch(0, 0)
        self._comm.Barrier()

    def _set_view(self, disp, etype, filetype):
        self._view, self._at = (disp, etype, filetype), 0
        step = filetype.dtype.itemsize
        self._blocks = []  # first byte in the file and number of bytes, of one filetype
        for place in filetype._own():
            if self._blocks and sum(self._blocks[-1]) == place * step:
                self._blocks[-1][1] += step
            else:
                self._blocks.append([place * step, step])

    def Get_view(self):
        """The displacement, the type of elements, the type of their places, and the form of the data."""
        self._open("Get_view")
        return (*self._view, "native")

    def Get_type_extent(self, datatype):
        """Bytes from one of these to the next in the file."""
        return datatype.extent

    def Get_byte_offset(self, offset):
        """The byte of the file at a position."""
        self._open("Get_byte_offset")
        return next(self._runs(offset, 1), (self._view[0], 0))[0]

    def _runs(self, offset, nbytes):
        """Bytes of the file and their numbers, for so many bytes from a position on."""
        disp, etype, filetype = self._view
        if offset < 0:
            raise ValueError(f"File: a position; got {offset}; expected 0 or more")
        tile, within = divmod(offset * etype.size, filetype.size)
        if len(self._blocks) == 1 and filetype.size == filetype.extent:
            yield disp + offset * etype.size + self._blocks[0][0], nbytes
            return
        while nbytes > 0:
            for start, length in self._blocks:
                if within >= length:
                    within -= length
                    continue
                n = min(length - within, nbytes)
                if n <= 0:
                    return
                yield disp + tile * filetype.extent + start + within, n
                nbytes -= n
                within = 0
            tile += 1

    # Moving bytes.

    def _write(self, call, offset, buf, status):
        self._open(call)
        memory, done = _source(buf), 0
        for at, n in self._runs(offset, len(memory)):
            while n > 0:
                moved = os.pwrite(self._number, memory[done : done + n], at)
                done, at, n = done + moved, at + moved, n - moved
        return self._told(done, status)

    def _read(self, call, offset, buf, status):
        self._open(call)
        memory, deliver = _target(buf)
        done = 0
        for at, n in self._runs(offset, len(memory)):
            moved = os.preadv(self._number, [memory[done : done + n]], at)
            done += moved
            if moved < n:  # the end of the file
                break
        deliver()
        return self._told(done, status)

    def _told(self, nbytes, status):
        if status is not None:
            status.bytes = nbytes
        return -(-nbytes // self._view[1].size)

    def _advance(self, moves, call, buf, status):
        self._at += moves(call, self._at, buf, status)

    def _shared_at(self, nbytes):
        return self._shared.read_inc(0, 0, -(-nbytes // self._view[1].size))

    def _ordered(self, moves, call, buf, status):
        self._open(call)
        n = -(-_length(buf) // self._view[1].size)
        before = self._comm.exscan(n) or 0
        total = self._comm.allreduce(n)
        start = self._comm.bcast(self._shared.read_inc(0, 0, total) if self._comm.rank == 0 else 0)
        moves(call, start + before, buf, status)

    def Seek(self, offset, whence=SEEK_SET):
        """Go to a position."""
        self._open("Seek")
        self._at = self._position("Seek", offset, whence, self._at)

    def Get_position(self):
        """Where this rank is."""
        self._open("Get_position")
        return self._at

    def Seek_shared(self, offset, whence=SEEK_SET):
        """Move the position that all ranks share, together."""
        self._open("Seek_shared")
        self._comm.Barrier()
        if self._comm.rank == 0:
            now = self._shared.read_inc(0, 0, 0)
            self._shared.fetch(self._position("Seek_shared", offset, whence, now), 0, 0, REPLACE)
        self._comm.Barrier()

    def Get_position_shared(self):
        """The position that all ranks share."""
        self._open("Get_position_shared")
        return self._shared.read_inc(0, 0, 0)

    def _position(self, call, offset, whence, now):
        if whence == SEEK_END:
            now = (self.Get_size() - self._view[0]) // self._view[1].size
        found = offset if whence == SEEK_SET else now + offset
        if found < 0:
            raise ValueError(
                f"File.{call}: before the file; got position {found}; expected 0 or more"
            )
        return found


def _length(buf):
    memory = specified(buf, False)
    memory = memory_of(buf) if memory is None else memory
    return memory.nbytes if hasattr(memory, "nbytes") else len(memory)


def _source(buf):
    """The bytes of a buffer."""
    import numpy

    memory = specified(buf, False)
    return (
        memoryview(numpy.ascontiguousarray(memory_of(buf) if memory is None else memory)).cast("B")
        if _length(buf)
        else b""
    )


def _target(buf):
    """The bytes to read into, and what to call when they are there."""
    memory = specified(buf, True)
    memory = memory_of(buf) if memory is None else memory
    if hasattr(memory, "room"):  # elements that lie apart
        return memoryview(memory.room).cast("B"), lambda: memory.put(memory.room)
    if not _length(memory):
        return memoryview(bytearray()), lambda: None
    try:
        return memoryview(memory).cast("B"), lambda: None
    except (BufferError, TypeError, ValueError):
        staged = stage(memory)
        return memoryview(staged).cast("B"), lambda: assign(memory, staged)


def _add_calls():
    """Adds the calls that move bytes: at a position, at this rank's own, and at the one that all ranks share."""
    for word, moves in (("Write", File._write), ("Read", File._read)):
        verb = {"Write": "Write a buffer", "Read": "Read into a buffer"}[word]

        def at(self, offset, buf, status=None, moves=moves, word=word):
            moves(self, f"{word}_at", offset, buf, status)

        def here(self, buf, status=None, moves=moves, word=word):
            self._open(word)
            self._at += moves(self, word, self._at, buf, status)

        def shared(self, buf, status=None, moves=moves, word=word):
            self._open(f"{word}_shared")
            moves(self, f"{word}_shared", self._shared_at(_length(buf)), buf, status)

        def ordered(self, buf, status=None, moves=moves, word=word):
            def move(*args):
                return moves(self, *args)

            self._ordered(move, f"{word}_ordered", buf, status)

        for suffix, function, text in (
            ("_at", at, "at a position"),
            ("_at_all", at, "at a position, as all ranks do"),
            ("", here, "where this rank is, and go on behind it"),
            ("_all", here, "where this rank is, and go on behind it, as all ranks do"),
            ("_shared", shared, "at the position that all ranks share, and move it"),
            ("_ordered", ordered, "at the position that all ranks share, in the order of ranks"),
        ):
            _add(f"{word}{suffix}", function, f"{verb} {text}.")
            if suffix != "_ordered":
                _add(
                    f"I{word.lower()}{suffix}",
                    _requested(function),
                    f"{verb} {text}; the request is done.",
                )
            if suffix.endswith(("_all", "_ordered")):
                _add(f"{word}{suffix}_begin", _begun(function), f"{verb} {text}.")
                _add(f"{word}{suffix}_end", _ended, f"End `{word}{suffix}_begin`.")


def _add(name, function, doc):
    import types

    made = types.FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    made.__doc__, made.__qualname__ = doc, f"File.{name}"
    setattr(File, name, made)


def _requested(function):
    def request(self, *args):
        function(self, *args)
        return _Request._nothing()

    return request


def _begun(function):
    def begin(self, *args):
        from ._status import Status

        self._status = Status()
        function(self, *args, self._status)

    return begin


def _ended(self, buf, status=None):
    self._open("end")
    if status is not None:
        status.__dict__.update(self._status.__dict__)


_NOTHING = {
    "_number": None,
    "_comm": None,
    "_path": "",
    "_atomic": False,
    "_at": 0,
    "_shared": None,
}
_add_calls()
FILE_NULL = File()
