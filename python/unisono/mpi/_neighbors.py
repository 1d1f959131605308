"""Messages of ranks with their neighbours alone, in a grid or a graph: mpi4py's ``Neighbor_...`` and ``neighbor_...``."""

from ._requests import Prequest

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
    from ._communicator import _split
    from ._datatypes import specified

    buffer, shares = _split(spec)
    if buffer is None:
        return [None] * n
    if isinstance(buffer, list | tuple):
        buffer = specified(buffer, False)
    row = _flat(buffer)
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


class Neighbors:
    """Methods of communicators whose ranks have neighbours."""

    def Create_dist_graph_adjacent(
        self, sources, destinations, sourceweights=None, destweights=None, info=None, reorder=False
    ):
        """A communicator of the same ranks, each of which knows whom it receives from and sends to."""
        made = self.Dup()
        made._graph = [int(r) for r in sources], [int(r) for r in destinations]
        return made

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
        sources, targets = _edges(self, "Neighbor_allgather")
        incoming = _parts(self, recvbuf, len(sources), "Neighbor_allgather")
        self._exchange([sendbuf] * len(targets), incoming, "Neighbor_allgather")

    def Neighbor_alltoall(self, sendbuf, recvbuf):
        """Send a part of a buffer to each neighbour, and receive one from each."""
        sources, targets = _edges(self, "Neighbor_alltoall")
        outgoing = _parts(self, sendbuf, len(targets), "Neighbor_alltoall")
        incoming = _parts(self, recvbuf, len(sources), "Neighbor_alltoall")
        self._exchange(outgoing, incoming, "Neighbor_alltoall")

    Neighbor_allgatherv, Neighbor_alltoallv = Neighbor_allgather, Neighbor_alltoall

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


def _persistent(name):
    def start(self, *args, **given):
        return Prequest(lambda: getattr(self, f"I{name.lower()}")(*args, **given))

    start.__name__, start.__qualname__ = f"{name}_init", f"Comm.{name}_init"
    start.__doc__ = f"A `{name}` that `Start` begins, as often as wanted."
    return start


for _name in (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce Allreduce Scan Exscan "
    "Reduce_scatter Reduce_scatter_block"
).split():
    setattr(Neighbors, f"{_name}_init", _persistent(_name))
