"""Messages of ranks with their neighbours alone, in a grid or a graph: mpi4py's ``Neighbor_...`` and ``neighbor_...``."""

from ._buffers.datatypes import memory_of, specified
from ._buffers.shares import IN_PLACE, _copied, _split
from ._requests import Prequest
from ._status import UNDEFINED
from ._types import _Request

_NOBODY = -2  # PROC_NULL


def _edges(comm, call):
    """Whom this rank receives from, and sends to, with the tag of each message."""
    if comm._graph is not None:
        sources, targets = comm._graph
        return [(r, 0) for r in sources], [(r, 0) for r in targets]
    if comm._grid is None:
        raise TypeError(
            f"{call}: the ranks of this communicator are in no grid and no graph; make one by Create_cart or "
            "Create_dist_graph_adjacent"
        )
    around = [r for axis in range(comm.Get_dim()) for r in comm.Shift(axis, 1)]
    # What goes to the neighbour below comes there from the neighbour above.
    return [(r, k) for k, r in enumerate(around)], [(r, k ^ 1) for k, r in enumerate(around)]


def _flat(buffer):
    """The elements of a buffer in one row, which slices share."""
    if hasattr(buffer, "reshape"):
        return buffer.reshape(-1)
    return memoryview(buffer)


def _parts(comm, spec, n, call):
    """Slices of a buffer, ``[buffer, counts]`` or ``[buffer, counts, starts]``, one for each of n neighbours."""
    buffer, shares = _split(spec, n, call.endswith("v"))
    if buffer is None:
        return [None] * n
    if isinstance(buffer, list | tuple):
        buffer = specified(buffer, False)
    row = _flat(memory_of(buffer))
    if shares is None:
        if n and len(row) % n:
            raise ValueError(
                f"{call}: an equal part for each of {n} neighbours; got {len(row)} elements; expected a multiple of {n}"
            )
        count = len(row) // n if n else 0
        shares = [count] * n, [k * count for k in range(n)]
    if len(shares[0]) != n:
        raise ValueError(f"{call}: a count for each neighbour; got {len(shares[0])}; expected {n}")
    return [row[start : start + count] for count, start in zip(*shares, strict=True)]


def _typed_parts(spec, n, call):
    """Of ``[buf, counts, starts, types]``, with or without a pair of the second and third: the part of each."""
    if spec is None or spec is IN_PLACE:
        raise TypeError(f"{call}: got {spec!r}; expected [buffer, counts, starts, types]")
    buffer, *rest = spec
    types = list(rest.pop())
    counts, starts = (*rest, None, None)[:2]
    if len(rest) == 1:
        counts, starts = rest[0]
    counts = [1] * n if counts is None else list(counts)
    starts = [0] * n if starts is None else list(starts)
    if not len(counts) == len(starts) == len(types) == n:
        raise ValueError(
            f"{call}: a count, a place and a type for each of {n} ranks; got {len(counts)}, {len(starts)} and "
            f"{len(types)}"
        )
    if buffer is None:
        return [None] * n
    memory = memoryview(memory_of(buffer))
    memory = memory.cast("B") if memory.nbytes else memoryview(b"")
    return [
        [memory[int(start) :], int(count), kind] if count else None
        for count, start, kind in zip(counts, starts, types, strict=True)
    ]


class Neighbors:
    """Methods of communicators whose ranks have neighbours."""

    def Create_dist_graph_adjacent(
        self, sources, destinations, sourceweights=None, destweights=None, info=None, reorder=False
    ):
        """A communicator of the same ranks, each of which knows whom it receives from and sends to."""
        made = self.Dup()
        made._graph = [int(r) for r in sources], [int(r) for r in destinations]
        return made

    def Create_graph(self, index, edges, reorder=False):
        """A communicator of the first ranks as a graph; COMM_NULL on the others.

        The neighbours of rank k are ``edges[index[k - 1] : index[k]]``.
        """
        index, edges = [int(i) for i in index], [int(e) for e in edges]
        made = self.Split(0 if self.rank < len(index) else UNDEFINED, self.rank)
        if made is not None and made:
            made._whole_graph = index, edges
            around = made.Get_neighbors(made.rank)
            made._graph = around, around
        return made

    def Graph_map(self, index, edges):
        """The rank that this one would have in such a graph; UNDEFINED where it would be in none."""
        return self.rank if self.rank < len(index) else UNDEFINED

    def Get_neighbors(self, rank):
        """The neighbours of a rank, in a graph that `Create_graph` made."""
        if self._whole_graph is None:
            raise TypeError(
                "Get_neighbors: the ranks of this communicator are in no graph that all know; make one by Create_graph"
            )
        index, edges = self._whole_graph
        if not 0 <= rank < len(index):
            raise ValueError(
                f"Get_neighbors: no such rank; got {rank}; expected 0 to {len(index) - 1}"
            )
        return edges[index[rank - 1] if rank else 0 : index[rank]]

    def Get_dims(self):
        """Numbers of ranks and of edges of a graph."""
        index, edges = self.Get_topo()
        return len(index), len(edges)

    nnodes = property(lambda self: self.Get_dims()[0], doc="Number of ranks of the graph.")
    nedges = property(lambda self: self.Get_dims()[1], doc="Number of edges.")
    index = property(lambda self: self.Get_topo()[0], doc="Where each rank's edges end.")
    edges = property(lambda self: self.Get_topo()[1], doc="The ranks at the edges' ends.")

    def Get_neighbors_count(self, rank):
        """Number of neighbours of a rank."""
        return len(self.Get_neighbors(rank))

    neighbors = property(
        lambda self: self.Get_neighbors(self.rank), doc="The neighbours of this rank."
    )
    nneighbors = property(lambda self: len(self.neighbors), doc="Number of neighbours.")

    def Create_dist_graph(
        self, sources, degrees, destinations, weights=None, info=None, reorder=False
    ):
        """The same of edges that any ranks give: of each of `sources` so many of `destinations`."""
        at, edges = 0, []
        for source, degree in zip(sources, degrees, strict=True):
            edges += [(int(source), int(d)) for d in destinations[at : at + degree]]
            at += degree
        edges = [e for of_rank in self.allgather(edges) for e in of_rank]
        return self.Create_dist_graph_adjacent(
            [a for a, b in edges if b == self.rank], [b for a, b in edges if a == self.rank]
        )

    def Get_dist_neighbors_count(self):
        """The numbers of ranks that it receives from and sends to, and whether they have weights: no."""
        sources, targets = _edges(self, "Get_dist_neighbors_count")
        return len(sources), len(targets), False

    def Get_dist_neighbors(self):
        """The ranks that it receives from and sends to, and their weights: none."""
        return self.inedges, self.outedges, None

    inedges = property(
        lambda self: [r for r, _ in _edges(self, "inedges")[0]], doc="Whom it receives from."
    )
    outedges = property(
        lambda self: [r for r, _ in _edges(self, "outedges")[1]], doc="Whom it sends to."
    )
    inoutedges = property(lambda self: (self.inedges, self.outedges), doc="Both.")
    indegree = property(
        lambda self: len(self.inedges), doc="Number of ranks that it receives from."
    )
    outdegree = property(lambda self: len(self.outedges), doc="Number of ranks that it sends to.")

    def _exchange(self, outgoing, incoming, call):
        sources, targets = _edges(self, call)
        apart = self._among_neighbors()
        requests = [
            apart.Irecv(part, r, tag)
            for part, (r, tag) in zip(incoming, sources, strict=True)
            if r != _NOBODY
        ]
        requests += [
            apart.Isend(part, r, tag)
            for part, (r, tag) in zip(outgoing, targets, strict=True)
            if r != _NOBODY
        ]
        for request in requests:
            request.Wait()

    def _among_neighbors(self):
        """A communicator for these messages, apart from the program's; all ranks of a grid make it at its first use."""
        if self._apart is None:
            self._apart = self.Dup()
        return self._apart

    def Neighbor_allgather(self, sendbuf, recvbuf):
        """Send a buffer to all neighbours, and receive one from each."""
        self._gather_around(sendbuf, recvbuf, "Neighbor_allgather")

    def Neighbor_allgatherv(self, sendbuf, recvbuf):
        """The same of buffers of several sizes; ``recvbuf`` is ``[buf, counts]``."""
        self._gather_around(sendbuf, recvbuf, "Neighbor_allgatherv")

    def _gather_around(self, sendbuf, recvbuf, call):
        sources, targets = _edges(self, call)
        incoming = _parts(self, recvbuf, len(sources), call)
        self._exchange([sendbuf] * len(targets), incoming, call)

    def Neighbor_alltoall(self, sendbuf, recvbuf):
        """Send a part of a buffer to each neighbour, and receive one from each."""
        self._swap_around(sendbuf, recvbuf, "Neighbor_alltoall")

    def Neighbor_alltoallv(self, sendbuf, recvbuf):
        """The same of parts of several sizes; both buffers are ``[buf, counts]``."""
        self._swap_around(sendbuf, recvbuf, "Neighbor_alltoallv")

    def _swap_around(self, sendbuf, recvbuf, call):
        sources, targets = _edges(self, call)
        outgoing = _parts(self, sendbuf, len(targets), call)
        incoming = _parts(self, recvbuf, len(sources), call)
        self._exchange(outgoing, incoming, call)

    def Neighbor_alltoallw(self, sendbuf, recvbuf):
        """The same with a type for each: both are ``[buf, counts, starts in bytes, types]``."""
        sources, targets = _edges(self, "Neighbor_alltoallw")
        outgoing = _typed_parts(sendbuf, len(targets), "Neighbor_alltoallw")
        incoming = _typed_parts(recvbuf, len(sources), "Neighbor_alltoallw")
        self._exchange(outgoing, incoming, "Neighbor_alltoallw")

    def Alltoallw(self, sendbuf, recvbuf):
        """Send each rank a part of a buffer, of a type of its own; both are ``[buf, counts, starts in bytes, types]``."""
        apart, ranks = self._among_neighbors(), range(self._partners)
        sent = recvbuf if sendbuf is IN_PLACE else sendbuf
        outgoing = _typed_parts(sent, self._partners, "Alltoallw")
        if sendbuf is IN_PLACE:  # a part is received where that for the same rank was
            outgoing = [part and _copied(part) for part in outgoing]
        incoming = _typed_parts(recvbuf, self._partners, "Alltoallw")
        requests = [apart.Irecv(part, r) for part, r in zip(incoming, ranks, strict=True)]
        requests += [apart.Isend(part, r) for part, r in zip(outgoing, ranks, strict=True)]
        for request in requests:
            request.Wait()

    def neighbor_allgather(self, sendobj):
        """Send an object to all neighbours; returns the list of those received, None where there is no rank."""
        return self.neighbor_alltoall([sendobj] * len(_edges(self, "neighbor_allgather")[1]))

    def neighbor_alltoall(self, sendobj):
        """Send each neighbour its object of a sequence; returns the list of those received."""
        sources, targets = _edges(self, "neighbor_alltoall")
        apart = self._among_neighbors()
        sent = [
            apart.isend(obj, r, tag)
            for obj, (r, tag) in zip(sendobj, targets, strict=True)
            if r != _NOBODY
        ]
        got = [None if r == _NOBODY else apart.recv(source=r, tag=tag) for r, tag in sources]
        for request in sent:
            request.Wait()
        return got


def _done_at_once(name):
    """The form of a call that returns a request: the request is done."""

    def start(self, *args, **given):
        getattr(self, name)(*args, **given)
        return _Request._nothing()

    start.__name__, start.__qualname__ = f"I{name.lower()}", f"Comm.I{name.lower()}"
    start.__doc__ = f"The same as `{name}`; the request is done."
    return start


def _persistent(name):
    def start(self, *args, **given):
        return Prequest(lambda: getattr(self, f"I{name.lower()}")(*args, **given))

    start.__name__, start.__qualname__ = f"{name}_init", f"Comm.{name}_init"
    start.__doc__ = f"A `{name}` that `Start` begins, as often as wanted."
    return start


_AMONG_NEIGHBORS = (
    "Alltoallw Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw"
).split()
for _name in _AMONG_NEIGHBORS:
    setattr(Neighbors, f"I{_name.lower()}", _done_at_once(_name))
for _name in (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce Allreduce Scan Exscan "
    "Reduce_scatter Reduce_scatter_block"
).split() + _AMONG_NEIGHBORS:
    setattr(Neighbors, f"{_name}_init", _persistent(_name))
