"""Communicators: ranks that exchange messages, with mpi4py's names.

Upper-case methods move the memory of arrays and other buffers; lower-case ones take any object, which travels by
pickle.
"""

from itertools import accumulate
from zlib import crc32

from .._engine import UnsupportedError
from ._buffers.datatypes import memory_of, specified, type_of
from ._buffers.shares import IN_PLACE, _copied, _first, _split
from ._errors import named as _errors
from ._groups import Group, compare
from ._info import Info
from ._kept_values import KeptValues
from ._matched import match
from ._neighbors import Neighbors
from ._objects import ObjectRequest, dumped, loaded, wait_for
from ._operations import SUM, Op, code_of, combined, is_of_mpi
from ._requests import Prequest
from ._status import UNDEFINED, Status
from ._topology import Grids
from ._types import _Comm, _Request

ANY_SOURCE = ANY_TAG = -1
PROC_NULL = -2
COMM_TYPE_SHARED = 0
CART, GRAPH, DIST_GRAPH = 1, 2, 3


# Kinds of collective calls, in the order of engine/comm/messages.h.
_BARRIER, _BCAST, _GATHER, _SCATTER, _ALLGATHER, _ALLTOALL, _REDUCE, _ALLREDUCE, _SCAN, _EXSCAN = (
    range(10)
)


def _dtype_name(buffer):
    if isinstance(buffer, list | tuple) and buffer:
        dtype = type_of(buffer[-1]) if len(buffer) > 1 else None
        return _dtype_name(buffer[0]) if dtype is None else str(dtype)
    return str(getattr(buffer, "dtype", "bool"))


def _collective(self, kind, source=None, target=None, root=0, op=SUM, call=""):
    given = source, target
    if source is target and kind >= _REDUCE and (kind != _REDUCE or self.rank == root):
        source = IN_PLACE
    varies = call.endswith("v")
    source, sends = _split(source, *_blocks(self, kind in (_SCATTER, _ALLTOALL), varies))
    target, receives = _split(target, *_blocks(self, kind in _COLLECTING, varies))
    if self.rank != root:  # what only the root uses
        if kind in (_GATHER, _REDUCE):
            target, receives = None, None
        elif kind == _SCATTER:
            source, sends = None, None
    code = 0
    if kind >= _REDUCE and isinstance(op, Op):
        dtype = _dtype_name(given[1] if given[0] is IN_PLACE or given[0] is None else given[0])
        if not is_of_mpi(op, dtype):
            return _combine(self, kind, *given, root, op)
    if kind >= _REDUCE:
        code = code_of(op, call, _dtype_name(target if source is None else source))
    return self._start(kind, source, sends, target, receives, root, code)


_COLLECTING = (_GATHER, _ALLGATHER, _ALLTOALL)


def _blocks(self, is_shared_out, varies):
    return (self._partners, varies) if is_shared_out else (1, False)


def _combine(self, kind, source, target, root, op):
    """A reduction by an operation that MPI has no number for: of arrays as objects, in the order of ranks."""
    import numpy

    own = target if source is IN_PLACE or source is None else source
    memory = specified(own, False) if isinstance(own, list | tuple) else memory_of(own)
    shared = self.gather(numpy.array(memory), root)
    done = None
    if shared is not None:
        if kind in (_SCAN, _EXSCAN):
            done = [combined(op, shared[: k + 1]) for k in range(self.size)]
            done = [None, *done[:-1]] if kind == _EXSCAN else done
        else:
            done = combined(op, shared)
    if kind in (_SCAN, _EXSCAN):
        done = self.scatter(done, root)
    elif kind == _ALLREDUCE:
        done = self.bcast(done, root)
    if done is not None:
        place = specified(target, True) if isinstance(target, list | tuple) else memory_of(target)
        if hasattr(place, "dtype"):
            place[...] = done.reshape(place.shape)
        else:
            memoryview(place).cast("B")[:] = memoryview(done).cast("B")
    return _Request._nothing()


def _wait(request):
    request.Wait()


class _Methods:
    """Methods of communicators that are written in Python."""

    def Get_rank(self):
        """This rank's number, from 0."""
        return self.rank

    def Get_size(self):
        """Number of ranks."""
        return self.size

    def __repr__(self):
        return f"Comm(rank {self.rank} of {self.size})" if self else "Comm(NULL)"

    def __bool__(self):
        return not self._is_null

    def __eq__(self, other):
        if other is None:
            return self._is_null
        return self._same(other) if isinstance(other, _Comm) else NotImplemented

    def __hash__(self):
        return hash(self._identity)

    # Ranks.

    def Get_group(self):
        """The ranks, as a group."""
        return Group._of(self._world_ranks())

    group = property(Get_group, doc="The ranks, as a group.")

    def Create(self, group):
        """A communicator of the ranks of a group, in its order; COMM_NULL on the others. All ranks call."""
        found = group.rank
        return self.Split(UNDEFINED if found == UNDEFINED else 0, max(found, 0))

    def Create_group(self, group, tag=0):
        """The same, which only the ranks of the group call; these are also taken as a list of ranks."""
        if isinstance(group, Group):
            group = group.Translate_ranks(None, self.Get_group())
        return self._part(list(group), tag)

    @classmethod
    def Create_from_group(cls, group, stringtag="org.unisono", info=None, errhandler=None):
        """A communicator of the ranks of a group, which only these call; `stringtag` tells calls apart that are made at once."""
        from ._job import connect

        return connect()["world"].Create_group(group, crc32(stringtag.encode()) % 32768)

    def Attach_buffer(self, buf):
        """Memory for `Bsend` of this communicator, which needs none."""
        self._attached = buf

    def Detach_buffer(self):
        """The memory that was given for `Bsend`; None where none was."""
        return self.__dict__.pop("_attached", None)

    def Flush_buffer(self):
        """Wait until what `Bsend` sent has left the memory: it needs none."""

    def Split_type(self, split_type, key=0, info=None):
        """A communicator for each node (COMM_TYPE_SHARED), whose ranks can share memory."""
        if split_type not in (COMM_TYPE_SHARED, UNDEFINED):
            raise UnsupportedError(
                f"Split_type: the kind of parts; got {split_type}; expected COMM_TYPE_SHARED"
            )
        return self._split_nodes(split_type == COMM_TYPE_SHARED, key)

    def Split_nodes(self):
        """A communicator for each node, whose ranks can share memory."""
        return self._split_nodes(True, self.rank)

    def Clone(self):
        """A communicator of the same ranks, whose messages are apart."""
        return self.Dup()

    def Dup_with_info(self, info):
        """The same; hints are ignored."""
        return self.Dup()

    def Idup_with_info(self, info):
        """The same, and a request that is done."""
        return self.Idup()

    def Idup(self, info=None):
        """The same, and a request that is done."""
        return self.Dup(), _Request._nothing()

    def Disconnect(self):
        """Free the communicator."""
        self.Free()

    def Compare(self, comm):
        """IDENT for one communicator, CONGRUENT for the same ranks in the same order, SIMILAR in another, else UNEQUAL."""
        return compare(self, comm)

    def _predefined(self):
        """ "COMM_WORLD" or "COMM_SELF", else ""."""
        from ._job import connect

        names = {"world": "COMM_WORLD", "self": "COMM_SELF"}
        return next((name for key, name in names.items() if self and self == connect()[key]), "")

    def __reduce__(self):
        if name := self._predefined():
            return _by_name, (name,)
        if not self:
            return _by_name, ("COMM_NULL",)
        raise ValueError(
            "Comm: only COMM_WORLD, COMM_SELF and COMM_NULL can be pickled; make the others anew where they are wanted"
        )

    def Get_name(self):
        """Its name."""
        if not self:
            return "MPI_COMM_NULL"
        name = self._predefined()
        return self.__dict__.get("_name", name and f"MPI_{name}")

    def Set_name(self, name):
        """Set its name."""
        self._name = name

    name = property(Get_name, Set_name, doc="Its name.")

    def Get_errhandler(self):
        """What an error does: it is an exception, whatever is set."""
        return self.__dict__.get("_errhandler", _errors["ERRORS_RETURN"])

    def Set_errhandler(self, errhandler):
        """Set what an error does, which is kept alone: it is an exception."""
        self._errhandler = errhandler

    def Get_info(self):
        """Hints: none."""
        return Info.Create()

    def Set_info(self, info):
        """Set hints, which are ignored."""

    info = property(Get_info, Set_info, doc="Hints: none.")

    def Is_inter(self):
        """Whether its ranks send to those of another: never."""
        return False

    def Is_intra(self):
        """Whether its ranks send to one another."""
        return True

    is_inter, is_intra = property(Is_inter), property(Is_intra)

    def Get_topology(self):
        """CART for a grid of ranks, GRAPH or DIST_GRAPH for a graph, else UNDEFINED."""
        if self._whole_graph is not None:
            return GRAPH
        return DIST_GRAPH if self._graph is not None else UNDEFINED if self._grid is None else CART

    topology = property(Get_topology, doc="CART for a grid of ranks, else UNDEFINED.")
    is_topo = property(
        lambda self: self.Get_topology() != UNDEFINED,
        doc="Whether it is a grid or a graph of ranks.",
    )

    # Memory.

    def Sendrecv(
        self,
        sendbuf,
        dest,
        sendtag=0,
        recvbuf=None,
        source=ANY_SOURCE,
        recvtag=ANY_TAG,
        status=None,
    ):
        """Send one buffer and receive another at the same time."""
        incoming, outgoing = self._start_exchange(sendbuf, dest, sendtag, recvbuf, source, recvtag)
        incoming.Wait(status)
        outgoing.Wait()

    def Sendrecv_replace(
        self, buf, dest, sendtag=0, source=ANY_SOURCE, recvtag=ANY_TAG, status=None
    ):
        """Send a buffer, and receive another message into it."""
        outgoing = self.Isend(_copied(buf), dest, sendtag)
        self.Recv(buf, source, recvtag, status)
        outgoing.Wait()

    def Isendrecv(
        self,
        sendbuf,
        dest,
        sendtag=0,
        recvbuf=None,
        source=ANY_SOURCE,
        recvtag=ANY_TAG,
    ):
        """Start to send a copy of one buffer and to receive another."""
        sent = _copied(sendbuf)  # refused before the receive begins, which would take a message
        return self._start_exchange(sent, dest, sendtag, recvbuf, source, recvtag)[0]

    def Isendrecv_replace(self, buf, dest, sendtag=0, source=ANY_SOURCE, recvtag=ANY_TAG):
        """Start to send a copy of a buffer, and to receive another message into it."""
        self.Bsend(buf, dest, sendtag)
        return self.Irecv(buf, source, recvtag)

    def Rsend(self, buf, dest, tag=0):
        """Send a buffer whose receive has begun."""
        self.Send(buf, dest, tag)

    def Irsend(self, buf, dest, tag=0):
        """Start sending a buffer whose receive has begun."""
        return self.Isend(buf, dest, tag)

    def Bsend(self, buf, dest, tag=0):
        """Send a copy of a buffer, without waiting for its receive."""
        self.Isend(_copied(buf), dest, tag)

    def Ibsend(self, buf, dest, tag=0):
        """Start sending a copy of a buffer."""
        return self.Isend(_copied(buf), dest, tag)

    def Send_init(self, buf, dest, tag=0):
        """A send that `Start` begins, as often as wanted."""
        return Prequest(lambda: self.Isend(buf, dest, tag))

    def Ssend_init(self, buf, dest, tag=0):
        """The same of a send that is done when it is being received."""
        return Prequest(lambda: self.Issend(buf, dest, tag))

    def Bsend_init(self, buf, dest, tag=0):
        """The same of a send of a copy."""
        return Prequest(lambda: self.Ibsend(buf, dest, tag))

    def Rsend_init(self, buf, dest, tag=0):
        """The same of a send whose receive has begun."""
        return Prequest(lambda: self.Irsend(buf, dest, tag))

    def Recv_init(self, buf, source=ANY_SOURCE, tag=ANY_TAG):
        """A receive that `Start` begins, as often as wanted."""
        return Prequest(lambda: self.Irecv(buf, source, tag))

    def Mprobe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Wait for a message and match it: only the result receives it."""
        return match(self, source, tag, True, status)

    def Improbe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Match a message that is there; None where none is."""
        return match(self, source, tag, False, status)

    mprobe, improbe = Mprobe, Improbe

    def Barrier(self):
        """Wait until all ranks are here."""
        _wait(self.Ibarrier())

    def Ibarrier(self):
        """Start a barrier."""
        return _collective(self, _BARRIER)

    def Bcast(self, buf, root=0):
        """Send the buffer of one rank to all."""
        _wait(self.Ibcast(buf, root))

    def Ibcast(self, buf, root=0):
        """Start a broadcast."""
        return _collective(self, _BCAST, None, buf, root, call="Bcast")

    def Gather(self, sendbuf, recvbuf, root=0):
        """Collect the buffers of all ranks, of one size, on one."""
        _wait(self.Igather(sendbuf, recvbuf, root))

    def Igather(self, sendbuf, recvbuf, root=0):
        """Start a gather."""
        return _collective(self, _GATHER, sendbuf, recvbuf, root, call="Gather")

    def Gatherv(self, sendbuf, recvbuf, root=0):
        """Collect buffers of several sizes on one rank; there ``recvbuf`` is ``[buf, counts]``."""
        _wait(self.Igatherv(sendbuf, recvbuf, root))

    def Igatherv(self, sendbuf, recvbuf, root=0):
        """Start to collect buffers of several sizes."""
        return _collective(self, _GATHER, sendbuf, recvbuf, root, call="Gatherv")

    def Scatter(self, sendbuf, recvbuf, root=0):
        """Share out a buffer of one rank in equal parts."""
        _wait(self.Iscatter(sendbuf, recvbuf, root))

    def Iscatter(self, sendbuf, recvbuf, root=0):
        """Start a scatter."""
        return _collective(self, _SCATTER, sendbuf, recvbuf, root, call="Scatter")

    def Scatterv(self, sendbuf, recvbuf, root=0):
        """Share out a buffer of one rank; there ``sendbuf`` is ``[buf, counts]``."""
        _wait(self.Iscatterv(sendbuf, recvbuf, root))

    def Iscatterv(self, sendbuf, recvbuf, root=0):
        """Start to share out a buffer in parts of several sizes."""
        return _collective(self, _SCATTER, sendbuf, recvbuf, root, call="Scatterv")

    def Allgather(self, sendbuf, recvbuf):
        """Collect the buffers of all ranks, of one size, on all."""
        _wait(self.Iallgather(sendbuf, recvbuf))

    def Iallgather(self, sendbuf, recvbuf):
        """Start a gather on all ranks."""
        return _collective(self, _ALLGATHER, sendbuf, recvbuf, call="Allgather")

    def Allgatherv(self, sendbuf, recvbuf):
        """Collect buffers of several sizes on all ranks; ``recvbuf`` is ``[buf, counts]``."""
        _wait(self.Iallgatherv(sendbuf, recvbuf))

    def Iallgatherv(self, sendbuf, recvbuf):
        """Start to collect buffers of several sizes on all ranks."""
        return _collective(self, _ALLGATHER, sendbuf, recvbuf, call="Allgatherv")

    def Alltoall(self, sendbuf, recvbuf):
        """Send an equal part of a buffer to each rank, and receive one from each."""
        _wait(self.Ialltoall(sendbuf, recvbuf))

    def Ialltoall(self, sendbuf, recvbuf):
        """Start an exchange of all with all."""
        return _collective(self, _ALLTOALL, sendbuf, recvbuf, call="Alltoall")

    def Alltoallv(self, sendbuf, recvbuf):
        """Send a part of a buffer to each rank; both buffers are ``[buf, counts]``."""
        _wait(self.Ialltoallv(sendbuf, recvbuf))

    def Ialltoallv(self, sendbuf, recvbuf):
        """Start an exchange of parts of several sizes."""
        return _collective(self, _ALLTOALL, sendbuf, recvbuf, call="Alltoallv")

    def Reduce(self, sendbuf, recvbuf, op=SUM, root=0):
        """Combine the buffers of all ranks, element by element, on one."""
        _wait(self.Ireduce(sendbuf, recvbuf, op, root))

    def Ireduce(self, sendbuf, recvbuf, op=SUM, root=0):
        """Start a reduction."""
        return _collective(self, _REDUCE, sendbuf, recvbuf, root, op, call="Reduce")

    def Allreduce(self, sendbuf, recvbuf, op=SUM):
        """Combine the buffers of all ranks, element by element, on all."""
        _wait(self.Iallreduce(sendbuf, recvbuf, op))

    def Iallreduce(self, sendbuf, recvbuf, op=SUM):
        """Start a reduction for all ranks."""
        return _collective(self, _ALLREDUCE, sendbuf, recvbuf, 0, op, call="Allreduce")

    def Scan(self, sendbuf, recvbuf, op=SUM):
        """Combine the buffers of ranks 0 to this one."""
        _wait(self.Iscan(sendbuf, recvbuf, op))

    def Exscan(self, sendbuf, recvbuf, op=SUM):
        """Combine the buffers of the ranks before this one; rank 0 gets nothing."""
        _wait(self.Iexscan(sendbuf, recvbuf, op))

    def Iscan(self, sendbuf, recvbuf, op=SUM):
        """Start to combine the buffers of ranks 0 to this one."""
        return _collective(self, _SCAN, sendbuf, recvbuf, 0, op, call="Scan")

    def Iexscan(self, sendbuf, recvbuf, op=SUM):
        """Start to combine the buffers of the ranks before this one."""
        return _collective(self, _EXSCAN, sendbuf, recvbuf, 0, op, call="Exscan")

    def Reduce_scatter_block(self, sendbuf, recvbuf, op=SUM):
        """Combine the buffers of all ranks, element by element; each rank gets an equal part."""
        self.Reduce_scatter(sendbuf, recvbuf, None, op)

    def Reduce_scatter(self, sendbuf, recvbuf, recvcounts=None, op=SUM):
        """Combine the buffers of all ranks, element by element; each rank gets its count of elements."""
        is_in_place = sendbuf is IN_PLACE
        sent = _copied(recvbuf if is_in_place else sendbuf)
        combined = _copied(sent) if self.rank == 0 else None
        self.Reduce(sent, combined, op, 0)
        if is_in_place:  # the part comes first in the memory that all elements were in
            count = len(sent) // self.size if recvcounts is None else int(recvcounts[self.rank])
            recvbuf = _first(recvbuf, count)
        if recvcounts is not None and self.rank == 0:
            combined = [combined, list(recvcounts)]
        self.Iscatterv(combined, recvbuf, 0).Wait()

    def Ireduce_scatter_block(self, sendbuf, recvbuf, op=SUM):
        """The same; the request is done."""
        self.Reduce_scatter_block(sendbuf, recvbuf, op)
        return _Request._nothing()

    def Ireduce_scatter(self, sendbuf, recvbuf, recvcounts=None, op=SUM):
        """The same; the request is done."""
        self.Reduce_scatter(sendbuf, recvbuf, recvcounts, op)
        return _Request._nothing()

    # Objects.

    def _send_beside(self, obj, dest, tag):
        """Send an object while receives of objects are under way: one may be of this rank itself."""
        wait_for(self.isend(obj, dest, tag))

    def ssend(self, obj, dest, tag=0):
        """Send an object; returns when it is being received."""
        wait_for(self.issend(obj, dest, tag))

    def isend(self, obj, dest, tag=0):
        """Start sending an object."""
        return self.Isend(dumped(obj), dest, tag)

    def issend(self, obj, dest, tag=0):
        """Start sending an object; it is done when it is being received."""
        return self.Issend(dumped(obj), dest, tag)

    def bsend(self, obj, dest, tag=0):
        """Send an object, without waiting for its receive."""
        self.isend(obj, dest, tag)

    def ibsend(self, obj, dest, tag=0):
        """Start sending an object."""
        return self.isend(obj, dest, tag)

    def _receive_beside(self, source, tag, status):
        """Receive an object behind the receives that are under way."""
        return ObjectRequest(self, source, tag).wait(status)

    def irecv(self, buf=None, source=ANY_SOURCE, tag=ANY_TAG):
        """Start receiving an object; ``wait()`` of the result returns it."""
        return ObjectRequest(self, source, tag)

    def sendrecv(
        self,
        sendobj,
        dest,
        sendtag=0,
        recvbuf=None,
        source=ANY_SOURCE,
        recvtag=ANY_TAG,
        status=None,
    ):
        """Send one object and receive another at the same time."""
        outgoing = self.isend(sendobj, dest, sendtag)
        got = self.recv(None, source, recvtag, status)
        outgoing.Wait()
        return got

    def probe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Wait until a message is there; it stays."""
        self.Probe(source, tag, status)
        return True

    def iprobe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Whether a message is there."""
        return self.Iprobe(source, tag, status)

    def barrier(self):
        """Wait until all ranks are here."""
        self.Barrier()

    def bcast(self, obj, root=0):
        """Send the object of one rank to all; returns it."""
        mine = self.rank == root
        data = dumped(obj) if mine else None
        size = _counts([len(data) if mine else 0])
        self.Bcast(size, root)
        if not mine:
            data = bytearray(size[0])
        self.Bcast(data, root)
        return obj if mine else loaded(data)

    def gather(self, sendobj, root=0):
        """Collect the objects of all ranks: a list on `root`, None elsewhere."""
        data = dumped(sendobj)
        mine = self.rank == root
        sizes = _counts([0] * self.size) if mine else None
        self.Gather(_counts([len(data)]), sizes, root)
        whole = bytearray(sum(sizes)) if mine else None
        self.Gatherv(data, [whole, sizes.tolist()] if mine else None, root)
        return _pieces(whole, sizes) if mine else None

    def scatter(self, sendobj, root=0):
        """Send each rank its object of a sequence of as many as there are ranks."""
        data, sizes = None, None
        if self.rank == root:
            parts = [dumped(obj) for obj in sendobj]
            if len(parts) != self.size:
                raise ValueError(
                    f"scatter: one object for each rank; got {len(parts)}; expected {self.size}"
                )
            sizes = _counts([len(part) for part in parts])
            data = [b"".join(parts), sizes.tolist()]
        size = _counts([0])
        self.Scatter(sizes, size, root)
        part = bytearray(size[0])
        self.Scatterv(data, part, root)
        return loaded(part)

    def allgather(self, sendobj):
        """Collect the objects of all ranks in a list on every rank."""
        data = dumped(sendobj)
        sizes = _counts([0] * self.size)
        self.Allgather(_counts([len(data)]), sizes)
        whole = bytearray(sum(sizes))
        self.Allgatherv(data, [whole, sizes.tolist()])
        return _pieces(whole, sizes)

    def alltoall(self, sendobj):
        """Send each rank its object of a sequence; returns the list of those received."""
        parts = [dumped(obj) for obj in sendobj]
        if len(parts) != self._partners:
            raise ValueError(
                f"alltoall: one object for each rank; got {len(parts)}; expected {self._partners}"
            )
        sent, received = _counts([len(part) for part in parts]), _counts([0] * self._partners)
        self.Alltoall(sent, received)
        whole = bytearray(sum(received))
        self.Alltoallv([b"".join(parts), sent.tolist()], [whole, received.tolist()])
        return _pieces(whole, received)

    def reduce(self, sendobj, op=SUM, root=0):
        """Combine the objects of all ranks in the order of ranks; None but on `root`."""
        parts = self.gather(sendobj, root)
        return None if parts is None else _folded(parts, op)[-1]

    def allreduce(self, sendobj, op=SUM):
        """Combine the objects of all ranks in the order of ranks, for all."""
        return self.bcast(self.reduce(sendobj, op, 0), 0)

    def scan(self, sendobj, op=SUM):
        """Combine the objects of ranks 0 to this one."""
        parts = self.gather(sendobj, 0)
        return self.scatter(None if parts is None else _folded(parts, op), 0)

    def exscan(self, sendobj, op=SUM):
        """Combine the objects of the ranks before this one; None on rank 0."""
        parts = self.gather(sendobj, 0)
        return self.scatter(None if parts is None else [None, *_folded(parts, op)[:-1]], 0)

    def Abort(self, errorcode=1):
        """End all ranks of the job."""
        from ._job import connect

        connect()["job"].abort(errorcode)


def _by_name(name):
    from unisono import mpi

    return getattr(mpi, name)


def _counts(values):
    from array import array

    return array("q", values)


def _pieces(whole, sizes):
    view, at, objects = memoryview(whole), 0, []
    for size in sizes:
        objects.append(loaded(view[at : at + size]))
        at += size
    return objects


def _folded(parts, op):
    return list(accumulate(parts, op))


_OF_OBJECTS = ("__repr__", "__bool__", "__eq__", "__hash__", "__reduce__")
for _name, _method in [
    pair for own in (_Methods, KeptValues, Grids, Neighbors) for pair in vars(own).items()
]:
    is_method = callable(_method) or isinstance(_method, property | classmethod)
    if is_method and (not _name.startswith("__") or _name in _OF_OBJECTS):
        setattr(_Comm, _name, _method)
_Comm._waiting = ()  # receives of objects under way, where there are any
_Comm._grid = None  # extents and periods of a grid of ranks
_Comm._graph = None  # whom each rank receives from and sends to
_Comm._whole_graph = None  # of all ranks, where they know it
_Comm._apart = None  # the communicator for messages of neighbours
Comm = _Comm
COMM_NULL = Comm()
__all__ = ["ANY_SOURCE", "ANY_TAG", "IN_PLACE", "PROC_NULL", "Comm", "Status"]
