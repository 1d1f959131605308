"""Intercommunicators: two groups of ranks, each of which sends to the other, with mpi4py's names."""

import functools
import inspect

from .._engine import CommValueError
from ._buffers.shares import _copied, memory_and_count, none_of, parts_of
from ._communicator import Comm, _counts, _pieces
from ._groups import CONGRUENT, IDENT, Group
from ._job import connect
from ._links import Linked, Paired
from ._objects import dumped, loaded
from ._operations import SUM
from ._status import UNDEFINED
from ._types import _Comm

ROOT = -4
_PROC_NULL = -2


class Intercomm(_Comm):
    """Ranks of two groups; a rank's messages go to ranks of the other group, which it numbers from 0.

    `Create_intercomm`, `Spawn`, `Get_parent`, `Accept` and `Connect` make one. In collective calls with a root, the root gives ``MPI.ROOT``, the ranks beside it
    ``MPI.PROC_NULL``, and the ranks of the other group the number of the root.

    Examples
    --------
    >>> import unisono as un
    >>> bool(un.mpi.Intercomm())
    False
    """

    def __init__(self, comm=None):
        super().__init__()
        known = isinstance(comm, Intercomm) and comm._local is not None
        if comm is not None and not known and comm:
            raise TypeError(
                "Intercomm: two groups; got a communicator of one; expected an Intercomm"
            )
        self._local, self._link = (comm._local, comm._link) if known else (None, None)

    @classmethod
    def _of(cls, local, link):
        made = cls()
        made._local, made._link = local, link
        return made

    @classmethod
    def Create_from_groups(
        cls,
        local_group,
        local_leader,
        remote_group,
        remote_leader,
        stringtag="",
        info=None,
        errhandler=None,
    ):
        """Of two groups that share no rank; all ranks of both call."""
        own, other = (
            list(local_group._known("Create_from_groups")),
            list(remote_group._known("Create_from_groups")),
        )
        return _between(own, other, connect()["world"]._part(own, 0), 0)

    def __bool__(self):
        return self._local is not None

    def __eq__(self, other):
        if other is None or not isinstance(other, _Comm):
            return other is None and not self or NotImplemented
        return (not self and not other) or self._link is getattr(other, "_link", None)

    def __hash__(self):
        return hash(self._link)

    def __repr__(self):
        if not self:
            return "Intercomm(NULL)"
        return f"Intercomm(rank {self.rank} of {self.size}, with {self.remote_size} others)"

    def __reduce__(self):
        raise ValueError(
            "Intercomm: two groups cannot be pickled; make them anew where they are wanted"
        )

    # Ranks.

    def _known(self):
        if self._local is None:
            raise ValueError(
                "Intercomm: no communicator; got COMM_NULL; expected one that is not freed"
            )
        return self._local

    rank = property(lambda self: self._known().rank, doc="This rank's number in its group.")
    size = property(lambda self: self._known().size, doc="Ranks of its group.")
    remote_size = property(
        lambda self: self._known() and self._link.remote_size,
        doc="Ranks of the other group.",
    )
    _partners = property(lambda self: self.remote_size)  # of calls that Comm has, too
    remote_group = property(lambda self: self.Get_remote_group(), doc="Ranks of the other group.")

    def Get_remote_size(self):
        """Number of ranks of the other group."""
        return self.remote_size

    def Get_group(self):
        """The ranks of the own group."""
        return self._known().Get_group()

    group = property(Get_group, doc="The ranks of the own group.")

    def Get_remote_group(self):
        """The ranks of the other group."""
        self._known()
        return Group._of(self._link.remote_ranks())

    def Is_inter(self):
        """Whether there are two groups."""
        return True

    def Is_intra(self):
        """Whether there is one group."""
        return False

    is_inter, is_intra = property(Is_inter), property(Is_intra)

    def Compare(self, comm):
        """IDENT for itself, else as its two groups compare."""
        if self == comm:
            return IDENT
        pairs = (
            (self.Get_group(), comm.Get_group()),
            (self.Get_remote_group(), comm.Get_remote_group()),
        )
        found = max(a.Compare(b) for a, b in pairs)
        return CONGRUENT if found == IDENT else found

    def Dup(self, info=None):
        """One of the same ranks, whose messages are apart."""
        self._known()
        local = self._local.Dup()
        made = Intercomm._of(local, self._link.dup(local))
        self._copy_kept(made)
        return made

    def Split(self, color=0, key=0):
        """An intercommunicator of the ranks of both groups that give one colour; COMM_NULL where one has none of them."""
        local = self._known().Split(color, key)
        link = self._link.split(local, color, key)
        return Intercomm() if link is None else Intercomm._of(local, link)

    def Create(self, group):
        """The same of the ranks of a group of each side; all ranks call."""
        found = group.rank
        return self.Split(UNDEFINED if found == UNDEFINED else 0, max(found, 0))

    def Merge(self, high=False):
        """A communicator of all ranks; those of the group that gives True come last."""
        return self._known() and self._link.merge(bool(high))

    def Free(self):
        """Give it up: it is COMM_NULL then. All ranks call."""
        self._end("free")

    def Disconnect(self):
        """Complete all messages and give it up: the processes of both groups may end apart then. All ranks call."""
        self._end("disconnect")

    def _end(self, how):
        for keyval in list(self._kept()):
            self.Delete_attr(keyval)
        if self._apart is not None:
            self._apart._end(how)
            self._apart = None
        local, link = self._known(), self._link
        self._local = self._link = None
        getattr(link, how)()
        local.Free()

    def _checked(self, root):
        if not (0 <= root < self.remote_size or root in (ROOT, _PROC_NULL)):
            raise CommValueError(
                f"Intercomm: no such root; got {root}; expected 0 to {self.remote_size - 1}, MPI.ROOT or MPI.PROC_NULL "
                "(MPI_ERR_ROOT)"
            )
        return root

    # Memory that moves between the groups: each rank says how many elements it sends to which rank, and receives.

    def _exchange(self, source, sends, target, receives):
        """Start it; `sends` and `receives`: of ranks of the other group counts and first elements."""
        source = (none_of(target) if receives else bytearray()) if not sends else source
        target = target if receives else none_of(source)
        return self._link.whole.Ialltoallv(
            self._spread(source, sends), self._spread(target, receives)
        )

    def _spread(self, memory, shares):
        of_others = [shares.get(k, (0, 0)) for k in range(self.remote_size)]
        of_all = self._link.of_all(of_others, (0, 0))
        return [memory, ([c for c, _ in of_all], [s for _, s in of_all])]

    def _to_others(self, source, target, root, sends, receives):
        """A collective call with a root: `sends`: whether the root does."""
        is_root = self._checked(root) == ROOT
        if root == _PROC_NULL:
            return self._exchange(None, {}, None, {})
        give, take = (source, {}), (target, {})
        if is_root == sends:
            give = parts_of(source, self.remote_size if is_root else None, root)
        if is_root == receives:
            take = parts_of(target, self.remote_size if is_root else None, root)
        return self._exchange(*give, *take)

    def Ibarrier(self):
        """Start a barrier."""
        return self._known() and self._link.whole.Ibarrier()

    def Ibcast(self, buf, root=0):
        """Start to send the buffer of a rank to all of the other group."""
        if self._checked(root) == ROOT:
            memory, count = memory_and_count(buf)
            return self._exchange(
                memory, dict.fromkeys(range(self.remote_size), (count, 0)), None, {}
            )
        return self._to_others(None, buf, root, True, False)

    def Igather(self, sendbuf, recvbuf, root=0):
        """Start to collect the buffers of a group on a rank of the other."""
        return self._to_others(sendbuf, recvbuf, root, False, True)

    def Iscatter(self, sendbuf, recvbuf, root=0):
        """Start to share out a buffer over the other group."""
        return self._to_others(sendbuf, recvbuf, root, True, False)

    Igatherv, Iscatterv = Igather, Iscatter

    def Iallgather(self, sendbuf, recvbuf):
        """Start to collect the buffers of each group on all ranks of the other."""
        memory, count = memory_and_count(sendbuf)
        sends = dict.fromkeys(range(self.remote_size), (count, 0))
        return self._exchange(memory, sends, *parts_of(recvbuf, self.remote_size, ROOT))

    def Ialltoall(self, sendbuf, recvbuf):
        """Start to send a part of a buffer to each rank of the other group."""
        parts = (parts_of(b, self.remote_size, ROOT) for b in (sendbuf, recvbuf))
        return self._exchange(*next(parts), *next(parts))

    Iallgatherv, Ialltoallv = Iallgather, Ialltoall

    def Iallreduce(self, sendbuf, recvbuf, op=SUM):
        """Combine the buffers of each group for all ranks of the other; the request may be under way."""
        made, count = memory_and_count(_copied(sendbuf))
        self._local.Allreduce(sendbuf, made, op)
        mine = range(self.rank, self.remote_size, self.size)
        target, wanted = memory_and_count(recvbuf)
        return self._exchange(
            made,
            dict.fromkeys(mine, (count, 0)),
            target,
            {self.rank % self.remote_size: (wanted, 0)},
        )

    def Ireduce(self, sendbuf, recvbuf, op=SUM, root=0):
        """Combine the buffers of a group on a rank of the other."""
        if self._checked(root) == ROOT:
            target, count = memory_and_count(recvbuf)
            return self._exchange(None, {}, target, {0: (count, 0)})
        if root == _PROC_NULL:
            return self._exchange(None, {}, None, {})
        made, count = memory_and_count(_copied(sendbuf))
        self._local.Reduce(sendbuf, made, op, 0)
        return self._exchange(made, {root: (count, 0)} if self.rank == 0 else {}, None, {})

    def Ireduce_scatter(self, sendbuf, recvbuf, recvcounts=None, op=SUM):
        """Combine the buffers of each group, and share them out over the other."""
        made, _ = memory_and_count(_copied(sendbuf))
        self._local.Reduce(sendbuf, made, op, 0)
        target, count = memory_and_count(recvbuf)
        if recvcounts is not None:
            count = int(recvcounts[self.rank])
        counts, at, sends = self.allgather(count), 0, {}
        for k, n in enumerate(counts if self.rank == 0 else ()):
            sends[k] = n, at
            at += n
        return self._exchange(made, sends, target, {0: (count, 0)})

    def Ireduce_scatter_block(self, sendbuf, recvbuf, op=SUM):
        """The same in equal parts."""
        return self.Ireduce_scatter(sendbuf, recvbuf, None, op)

    # Objects: their sizes, then their bytes, as mpi4py sends them.

    def barrier(self):
        """Wait until all ranks of both groups are here."""
        self.Barrier()

    def bcast(self, obj, root=0):
        """Send the object of a rank to all of the other group, which get it."""
        data = dumped(obj) if self._checked(root) == ROOT else None
        size = _counts([len(data) if root == ROOT else 0])
        self.Bcast(size, root)
        if root >= 0:
            data = bytearray(size[0])
        self.Bcast(data, root)
        return loaded(data) if root >= 0 else None

    def gather(self, sendobj, root=0):
        """Collect the objects of a group in a list on a rank of the other."""
        data = dumped(sendobj) if self._checked(root) >= 0 else b""
        sizes = _counts([0] * self.remote_size)
        self.Gather(_counts([len(data)]), sizes, root)
        whole = bytearray(sum(sizes))
        self.Gatherv(data, [whole, sizes.tolist()] if root == ROOT else None, root)
        return _pieces(whole, sizes) if root == ROOT else None

    def scatter(self, sendobj, root=0):
        """Send each rank of the other group its object of a sequence."""
        parts = [dumped(obj) for obj in sendobj] if self._checked(root) == ROOT else []
        if root == ROOT:
            self._check_count("scatter", parts)
        sizes, size = _counts([len(part) for part in parts]), _counts([0])
        self.Scatter(sizes, size, root)
        part = bytearray(size[0])
        self.Scatterv([b"".join(parts), sizes.tolist()] if root == ROOT else None, part, root)
        return loaded(part) if root >= 0 else None

    def _check_count(self, call, objects):
        if len(objects) != self.remote_size:
            raise ValueError(
                f"{call}: one object for each rank; got {len(objects)}; expected {self.remote_size}"
            )

    def allgather(self, sendobj):
        """Collect the objects of the other group in a list."""
        data, sizes = dumped(sendobj), _counts([0] * self.remote_size)
        self.Allgather(_counts([len(data)]), sizes)
        whole = bytearray(sum(sizes))
        self.Allgatherv(data, [whole, sizes.tolist()])
        return _pieces(whole, sizes)

    def alltoall(self, sendobj):
        """Send each rank of the other group its object of a sequence; the list of those received."""
        parts = [dumped(obj) for obj in sendobj]
        self._check_count("alltoall", parts)
        sizes, found = _counts([len(part) for part in parts]), _counts([0] * self.remote_size)
        self.Alltoall(sizes, found)
        whole = bytearray(sum(found))
        self.Alltoallv([b"".join(parts), sizes.tolist()], [whole, found.tolist()])
        return _pieces(whole, found)

    def _objects(self, given):
        """Send objects to some ranks of the other group; what its ranks sent, None of those that sent nothing."""
        return self.alltoall([given.get(k) for k in range(self.remote_size)])

    def reduce(self, sendobj, op=SUM, root=0):
        """Combine the objects of a group on a rank of the other."""
        made = self._local.reduce(sendobj, op, 0) if self._checked(root) >= 0 else None
        got = self._objects({root: made} if root >= 0 and self.rank == 0 else {})
        return got[0] if root == ROOT else None

    def allreduce(self, sendobj, op=SUM):
        """Combine the objects of each group for all ranks of the other."""
        made = self._local.reduce(sendobj, op, 0)
        others = range(self.remote_size) if self.rank == 0 else ()
        return self._objects(dict.fromkeys(others, made))[0]

    # Messages.

    def _dest(self, dest):
        if dest >= self.remote_size:
            raise IndexError(
                f"Intercomm: no such rank; got {dest}; expected 0 to {self.remote_size - 1}"
            )
        return dest if dest < 0 else self._link.dest(dest)

    def Sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=-1, recvtag=-1, status=None):
        """Send one buffer and receive another at the same time."""
        outgoing = self.Isend(sendbuf, dest, sendtag)
        self.Recv(recvbuf, source, recvtag, status)
        outgoing.Wait()

    def sendrecv(self, sendobj, dest, sendtag=0, recvbuf=None, source=-1, recvtag=-1, status=None):
        """Send one object and receive another at the same time."""
        outgoing = self.isend(sendobj, dest, sendtag)
        got = self.recv(None, source, recvtag, status)
        outgoing.Wait()
        return got

    def Sendrecv_replace(self, buf, dest, sendtag=0, source=-1, recvtag=-1, status=None):
        """Send a buffer, and receive another message into it."""
        self.Sendrecv(_copied(buf), dest, sendtag, buf, source, recvtag, status)


def _between(own, other, local, tag):
    """Of two groups of ranks of COMM_WORLD; all of them call."""
    if set(own) & set(other):
        raise ValueError(f"Create_intercomm: groups without a common rank; got {own} and {other}")
    is_first = own[0] < other[0]
    both = connect()["world"]._part(own + other if is_first else other + own, tag)
    return Intercomm._of(local, Paired(local.size, both, is_first))


def _create(self, local_leader, peer_comm, remote_leader, tag=0):
    """Two groups that send to each other: this communicator's and another, whose leaders meet in `peer_comm`. All ranks of both call."""
    own, count = self._world_ranks(), connect()["world"].size
    other, are_of_world = None, max(own) < count
    if self.rank == local_leader:
        are_of_world = are_of_world and max(peer_comm._world_ranks()) < count
        given = own, are_of_world
        other, are_there = peer_comm.sendrecv(given, remote_leader, tag, None, remote_leader, tag)
        are_of_world = are_of_world and are_there
    other, are_of_world = self.bcast((other, are_of_world), local_leader)
    local = self.Dup()
    if are_of_world:
        return _between(own, other, local, tag)
    both = connect()["job"].pair(local, local_leader, peer_comm, remote_leader, tag)
    return Intercomm._of(local, Linked(both))


def _starting(name):
    """A call by MPI's of the same name where the groups are of several jobs, else by an exchange."""
    exchange = getattr(Intercomm, f"I{name.lower()}")

    @functools.wraps(exchange)
    def start(self, *args, **given):
        made = self._known() and self._link.call(name, False, (args, given))
        return exchange(self, *args, **given) if made is None else made

    return start


def _waited(name):
    start = getattr(Intercomm, "I" + name.lower())
    exchange = inspect.unwrap(start)

    def wait(self, *args, **given):
        made = self._known() and self._link.call(name, True, (args, given))
        (exchange(self, *args, **given) if made is None else made).Wait()

    wait.__name__, wait.__doc__ = (
        name,
        (start.__doc__ or "")
        .replace("Start to send", "Send")
        .replace("Start to collect", "Collect")
        .replace("Start to share", "Share")
        .replace("Start a barrier", "Wait until all ranks of both groups are here"),
    )
    return wait


def _sending(name):
    def send(self, buf, dest, tag=0):
        return getattr(self._known() and self._link.outgoing, name)(buf, self._dest(dest), tag)

    send.__name__, send.__doc__ = name, getattr(Comm, name).__doc__
    return send


def _receiving(name):
    def receive(self, *args, **given):
        return getattr(self._known() and self._link.incoming, name)(*args, **given)

    receive.__name__, receive.__doc__ = name, getattr(Comm, name).__doc__
    return receive


for _name in (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Allreduce Reduce "
    "Reduce_scatter Reduce_scatter_block"
).split():
    setattr(Intercomm, f"I{_name.lower()}", _starting(_name))
    setattr(Intercomm, _name, _waited(_name))
for _name in (
    "Send Ssend Rsend Bsend Isend Issend Irsend Ibsend Send_init Ssend_init Rsend_init Bsend_init send ssend bsend isend "
    "issend ibsend"
).split():
    setattr(Intercomm, _name, _sending(_name))
for _name in "Recv Irecv Recv_init Probe Iprobe Mprobe Improbe recv irecv probe iprobe mprobe improbe".split():
    setattr(Intercomm, _name, _receiving(_name))
_Comm.Create_intercomm = _create
