"""Collective calls between two groups by MPI's calls of the same names, which those of any program meet."""

from ._buffers.shares import _split
from ._communicator import (
    _ALLGATHER,
    _ALLREDUCE,
    _ALLTOALL,
    _BARRIER,
    _BCAST,
    _GATHER,
    _REDUCE,
    _SCATTER,
    _dtype_name,
)
from ._operations import LAND, LOR, LXOR, MAXLOC, MINLOC, SUM, Op, code_of, is_of_mpi

_ROOT, _PROC_NULL = -4, -2
_OF_PYTHON = (
    LAND,
    LOR,
    LXOR,
    MAXLOC,
    MINLOC,
)  # of some elements, which ranks that give none cannot tell
_REDUCE_SCATTER = 10  # behind those of one group


class _Call:
    """What is sent, and received, and the counts for each rank where they differ."""

    def __init__(self, kind, source=None, target=None, root=0, op=SUM, counts=None):
        self.kind, self.source, self.target = kind, source, target
        self.root, self.op, self.counts = root, op, counts


def _barrier():
    return _Call(_BARRIER)


def _bcast(buf, root=0):
    return _Call(_BCAST, None, buf, root)


def _gather(sendbuf, recvbuf, root=0):
    return _Call(_GATHER, *_used(sendbuf, recvbuf, root, receives=True), root)


def _scatter(sendbuf, recvbuf, root=0):
    return _Call(_SCATTER, *_used(sendbuf, recvbuf, root, receives=False), root)


def _allgather(sendbuf, recvbuf):
    return _Call(_ALLGATHER, sendbuf, recvbuf)


def _alltoall(sendbuf, recvbuf):
    return _Call(_ALLTOALL, sendbuf, recvbuf)


def _reduce(sendbuf, recvbuf, op=SUM, root=0):
    return _Call(_REDUCE, *_used(sendbuf, recvbuf, root, receives=True), root, op)


def _allreduce(sendbuf, recvbuf, op=SUM):
    return _Call(_ALLREDUCE, sendbuf, recvbuf, 0, op)


def _reduce_scatter(sendbuf, recvbuf, recvcounts=None, op=SUM):
    return _Call(_REDUCE_SCATTER, sendbuf, recvbuf, 0, op, recvcounts)


def _reduce_scatter_block(sendbuf, recvbuf, op=SUM):
    return _Call(_REDUCE_SCATTER, sendbuf, recvbuf, 0, op)


def _used(sendbuf, recvbuf, root, receives):
    """Which of both buffers a rank uses in a call with a root. `receives`: whether the root does."""
    return (
        (None, recvbuf) if (root == _ROOT) == receives and root != _PROC_NULL else (sendbuf, None)
    )


_CALLS = {
    "Barrier": _barrier, "Bcast": _bcast, "Gather": _gather, "Gatherv": _gather, "Scatter": _scatter,
    "Scatterv": _scatter, "Allgather": _allgather, "Allgatherv": _allgather, "Alltoall": _alltoall,
    "Alltoallv": _alltoall, "Reduce": _reduce, "Allreduce": _allreduce, "Reduce_scatter": _reduce_scatter,
    "Reduce_scatter_block": _reduce_scatter_block,
}  # fmt: skip


def call_of_mpi(both, name, waits, given):
    """Start it on a communicator of two groups, with the arguments that the method of that name was given, or make it.

    Returns the request, which is done where it waits; None where MPI has no such operation.
    """
    args, kwargs = given
    c = _CALLS[name](*args, **kwargs)
    code, varies = 0, name.endswith("v")
    if c.kind >= _REDUCE:
        dtype = _dtype_name(c.target if c.source is None else c.source)
        is_whole = name != "Reduce_scatter" or c.counts is not None
        if (
            not is_whole
            or c.op in _OF_PYTHON
            or (isinstance(c.op, Op) and not is_of_mpi(c.op, dtype))
        ):
            return None
        code = code_of(c.op, name, dtype)
    shared_out, collects = (
        c.kind in (_SCATTER, _ALLTOALL),
        c.kind in (_GATHER, _ALLGATHER, _ALLTOALL),
    )
    source, sends = _split(c.source, *_blocks(both, shared_out, varies))
    target, receives = _split(c.target, *_blocks(both, collects, varies))
    if name == "Reduce_scatter":
        counts, varies = [int(n) for n in c.counts], True
        receives = counts, [0] * len(counts)
    return both._start_between(c.kind, source, sends, target, receives, c.root, code, varies, waits)


def _blocks(both, is_of_each, varies):
    return (both._partners, varies) if is_of_each else (1, False)
