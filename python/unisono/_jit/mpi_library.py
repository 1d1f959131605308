"""Communicators of `unisono.mpi` in compiled code: calls on arrays, and collective calls on numbers.

A communicator is passed by the address of the engine's object. Calls on numbers give the bits of those on objects in
Python: what all ranks sent is combined in the order of ranks.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..mpi._types import _Comm
from . import jit
from .engine_functions import engine_function

# Known to the front end by these names (engine/frontend/messages.cpp).
comm_rank = engine_function("comm_rank")
comm_size = engine_function("comm_size")
comm_send = engine_function("comm_send")
comm_receive = engine_function("comm_receive")
comm_exchange = engine_function("comm_exchange")
comm_start_send = engine_function("comm_start_send")
comm_start_receive = engine_function("comm_start_receive")
comm_finish = engine_function("comm_finish")
comm_finish_any = engine_function("comm_finish_any")
comm_collective = engine_function("comm_collective")
comm_buffer = engine_function("comm_buffer")
comm_operation = engine_function("comm_operation")
comm_like = engine_function("comm_like")
comm_objects = engine_function("comm_objects")
comm_others = engine_function("comm_others")

# Kinds of collective calls, in the order of engine/comm/messages.h.
_BARRIER, _BCAST, _GATHER, _SCATTER, _ALLGATHER, _ALLTOALL, _REDUCE, _ALLREDUCE, _SCAN, _EXSCAN = (
    range(10)
)
UNDEFINED = -32766  # as in un.mpi


# ---- operations, by the names of those of un.mpi


@jit
def SUM(x, y):
    return x + y


@jit
def PROD(x, y):
    return x * y


@jit
def MAX(x, y):
    return max(x, y)


@jit
def MIN(x, y):
    return min(x, y)


@jit
def LAND(x, y):
    return bool(x) and bool(y)


@jit
def BAND(x, y):
    return x & y


@jit
def LOR(x, y):
    return bool(x) or bool(y)


@jit
def BOR(x, y):
    return x | y


@jit
def LXOR(x, y):
    return bool(x) != bool(y)


@jit
def BXOR(x, y):
    return x ^ y


@jit
def REPLACE(x, y):
    return y


@jit
def NO_OP(x, y):
    return x


operations = {
    f.__name__: f for f in (SUM, PROD, MAX, MIN, LAND, BAND, LOR, BOR, LXOR, BXOR, REPLACE, NO_OP)
}


# ---- communicators


@jit
def rank(comm):
    return comm_rank(comm._address)


@jit
def size(comm):
    return comm_size(comm._address)


@jit
def IN_PLACE():
    """Stands for un.mpi.IN_PLACE."""
    return None


@jit
def _sent(given):
    """The elements one after the other."""
    a = comm_buffer(given)
    if a is None:
        return None
    elif a.flags.c_contiguous:
        return a
    else:
        return a.copy()


@jit
def _put_back(buf, room):
    """What arrived where `_sent` made room for it: into the array, where that has gaps."""
    if buf is not None:
        if not buf.flags.c_contiguous:
            buf[...] = room


@jit
def Send(comm, buf, dest, tag=0):
    comm_send(comm._address, _sent(buf), dest, tag, 0)


@jit
def Ssend(comm, buf, dest, tag=0):
    comm_send(comm._address, _sent(buf), dest, tag, 1)


@jit
def _tell(status, source, tag, size):
    if status is not None:
        status.source = source
        status.tag = tag
        status.bytes = size


@jit
def Recv(comm, buf, source=-1, tag=-1, status=None):
    _taken(comm, comm_buffer(buf), source, tag, status)


@jit
def _taken(comm, buf, source, tag, status):
    room = _sent(buf)
    found = comm_receive(comm._address, room, source, tag)
    _put_back(buf, room)
    _tell(status, found[0], found[1], found[2])


@jit
def Sendrecv(comm, sendbuf, dest, sendtag=0, recvbuf=None, source=-1, recvtag=-1, status=None):
    _exchanged(comm, _sent(sendbuf), dest, sendtag, comm_buffer(recvbuf), source, recvtag, status)


@jit
def _exchanged(comm, outgoing, dest, sendtag, recvbuf, source, recvtag, status):
    if status is not None:
        sending = comm_start_send(comm._address, outgoing, dest, sendtag, 0)
        _taken(comm, recvbuf, source, recvtag, status)
        comm_finish(sending, None, 1)
    else:
        room = _sent(recvbuf)
        comm_exchange(comm._address, outgoing, dest, sendtag, room, source, recvtag)
        _put_back(recvbuf, room)


@jit
def _finished(number, buf, waits, status):
    """Whether a message that was started is done, or now is; `buf` gets what arrived."""
    room = _sent(buf)
    found = comm_finish(number, room, waits)
    if found[0] != 0:
        _put_back(buf, room)
        _tell(status, found[1], found[2], found[3])
    return found[0] != 0


@dataclasses.dataclass(frozen=True)
class Request:
    """A message under way in compiled code: its number, and the array that is to receive it."""

    number: int
    buffer: object

    def Wait(self, status=None):
        """Wait until it is done."""
        _finished(self.number, self.buffer, 1, status)

    def wait(self, status=None):
        """Wait until it is done."""
        _finished(self.number, self.buffer, 1, status)

    def Test(self, status=None):
        """Whether it is done."""
        return _finished(self.number, self.buffer, 0, status)


Request.__module__ = "unisono.mpi"  # methods of private classes are not compiled


@jit
def _wait_all(requests):
    for request in requests:
        request.Wait()


@jit
def _wait_any(requests, status=None):
    numbers = np.empty(len(requests), np.int64)
    k = 0
    for request in requests:
        numbers[k] = request.number
        k += 1
    found = comm_finish_any(numbers)
    k = 0
    for request in requests:
        if k == found:
            request.Wait(status)
        k += 1
    return found if found >= 0 else UNDEFINED


@jit
def _test_all(requests):
    done = True
    for request in requests:
        if not request.Test():
            done = False
    return done


@jit
def _asked(number):
    """0: under way; 1: done, and to be waited for; 2: neither."""
    return comm_finish(number, None, 2)[0]


@jit
def _test_any(requests, status=None):
    k = 0
    found = UNDEFINED
    under_way = 0
    for request in requests:
        state = _asked(request.number)
        if state != 2:
            under_way += 1
        if state == 1 and found == UNDEFINED:
            request.Wait(status)
            found = k
        k += 1
    return found, found != UNDEFINED or under_way == 0


@jit
def _test_some(requests):
    k = 0
    under_way = 0
    found = [0 for _ in range(0)]
    for request in requests:
        state = _asked(request.number)
        if state != 2:
            under_way += 1
        if state == 1:
            request.Wait()
            found.append(k)
        k += 1
    if under_way == 0:
        return None
    return found


@jit
def _wait_some(requests):
    numbers = np.empty(len(requests), np.int64)
    k = 0
    for request in requests:
        numbers[k] = request.number
        k += 1
    comm_finish_any(numbers)
    return _test_some(requests)


of_requests = {
    "Waitall": _wait_all,
    "Waitany": _wait_any,
    "Waitsome": _wait_some,
    "Testall": _test_all,
    "Testany": _test_any,
    "Testsome": _test_some,
}


@jit
def Isend(comm, buf, dest, tag=0):
    return Request(comm_start_send(comm._address, _sent(buf), dest, tag, 0), None)


@jit
def Issend(comm, buf, dest, tag=0):
    return Request(comm_start_send(comm._address, _sent(buf), dest, tag, 1), None)


@jit
def Irecv(comm, buf, source=-1, tag=-1):
    return Request(
        comm_start_receive(comm._address, comm_buffer(buf), source, tag), comm_buffer(buf)
    )


@jit
def _collective(comm, kind, root, operation, source, sends, target, receives):
    _started(comm, kind, root, operation, _sent(source), sends, comm_buffer(target), receives)


@jit
def _started(comm, kind, root, operation, outgoing, sends, target, receives):
    room = _sent(target)
    comm_collective(comm._address, kind, root, operation, outgoing, sends, room, receives)
    _put_back(target, room)


@jit
def _counts(spec):
    """The number of elements of each rank, of ``(buffer, counts)``; none where the buffer stands alone."""
    if isinstance(spec, tuple):
        n = len(spec[1])
        made = np.empty(n, np.int64)
        for k in range(n):
            made[k] = spec[1][k]
        return made
    else:
        return None


@jit
def _buffer(spec):
    if isinstance(spec, tuple):
        return spec[0]
    else:
        return spec


@jit
def Barrier(comm):
    _collective(comm, _BARRIER, 0, 0, None, None, None, None)


@jit
def barrier(comm):
    Barrier(comm)


@jit
def Bcast(comm, buf, root=0):
    _collective(comm, _BCAST, root, 0, None, None, buf, None)


@jit
def _shared(comm, kind, root, sendbuf, recvbuf):
    _collective(
        comm, kind, root, 0, _buffer(sendbuf), _counts(sendbuf), _buffer(recvbuf), _counts(recvbuf)
    )


@jit
def Gather(comm, sendbuf, recvbuf, root=0):
    _shared(comm, _GATHER, root, sendbuf, recvbuf)


@jit
def Gatherv(comm, sendbuf, recvbuf, root=0):
    _shared(comm, _GATHER, root, sendbuf, recvbuf)


@jit
def Scatter(comm, sendbuf, recvbuf, root=0):
    _shared(comm, _SCATTER, root, sendbuf, recvbuf)


@jit
def Scatterv(comm, sendbuf, recvbuf, root=0):
    _shared(comm, _SCATTER, root, sendbuf, recvbuf)


@jit
def Allgather(comm, sendbuf, recvbuf):
    _shared(comm, _ALLGATHER, 0, sendbuf, recvbuf)


@jit
def Allgatherv(comm, sendbuf, recvbuf):
    _shared(comm, _ALLGATHER, 0, sendbuf, recvbuf)


@jit
def Alltoall(comm, sendbuf, recvbuf):
    _shared(comm, _ALLTOALL, 0, sendbuf, recvbuf)


@jit
def Alltoallv(comm, sendbuf, recvbuf):
    _shared(comm, _ALLTOALL, 0, sendbuf, recvbuf)


@jit
def _reduced(comm, kind, root, op, sendbuf, recvbuf):
    if comm_buffer(sendbuf) is None:
        operation = comm_operation(op, recvbuf)
    else:
        operation = comm_operation(op, sendbuf)
    _collective(comm, kind, root, operation, sendbuf, None, recvbuf, None)


@jit
def Reduce(comm, sendbuf, recvbuf, op=None, root=0):
    _reduced(comm, _REDUCE, root, op, sendbuf, recvbuf)


@jit
def Allreduce(comm, sendbuf, recvbuf, op=None):
    _reduced(comm, _ALLREDUCE, 0, op, sendbuf, recvbuf)


@jit
def Scan(comm, sendbuf, recvbuf, op=None):
    _reduced(comm, _SCAN, 0, op, sendbuf, recvbuf)


@jit
def Exscan(comm, sendbuf, recvbuf, op=None):
    _reduced(comm, _EXSCAN, 0, op, sendbuf, recvbuf)


# ---- numbers


@jit
def _of_all(comm, x):
    """The numbers of all ranks."""
    mine = np.array([x])
    made = np.empty(size(comm), mine.dtype)
    Allgather(comm, mine, made)
    return made


@jit
def _combined(op, x, y):
    if op is None:
        return x + y
    else:
        return op(x, y)


@jit
def _folded(op, parts, x, first, last):
    """Numbers of ranks first to last - 1, combined in their order; of x's type."""
    total = comm_like(x, parts[first])
    for k in range(first + 1, last):
        total = _combined(op, total, comm_like(x, parts[k]))
    return total


@jit
def allreduce(comm, sendobj, op=None):
    return _folded(op, _of_all(comm, sendobj), sendobj, 0, size(comm))


@jit
def reduce(comm, sendobj, op=None, root=0):
    total = _folded(op, _of_all(comm, sendobj), sendobj, 0, size(comm))
    return total if rank(comm) == root else None


@jit
def scan(comm, sendobj, op=None):
    return _folded(op, _of_all(comm, sendobj), sendobj, 0, rank(comm) + 1)


@jit
def exscan(comm, sendobj, op=None):
    parts = _of_all(comm, sendobj)
    mine = rank(comm)
    return _folded(op, parts, sendobj, 0, mine) if mine > 0 else None


@jit
def bcast(comm, obj, root=0):
    made = np.array([obj])
    Bcast(comm, made, root)
    return comm_like(obj, made[0])


@jit
def allgather(comm, sendobj):
    return [comm_like(sendobj, x) for x in _of_all(comm, sendobj)]


@jit
def scatter(comm, sendobj, root=0):
    if len(sendobj) != size(comm) and rank(comm) == root:
        raise ValueError(
            f"scatter: one object for each rank; got {len(sendobj)}; expected {size(comm)}"
        )
    made = np.array([sendobj[0]])
    Scatter(comm, np.array(sendobj), made, root)
    return comm_like(sendobj[0], made[0])


@jit
def alltoall(comm, sendobj):
    if len(sendobj) != size(comm):
        raise ValueError(
            f"alltoall: one object for each rank; got {len(sendobj)}; expected {size(comm)}"
        )
    sent = np.array(sendobj)
    made = np.empty(len(sendobj), sent.dtype)
    Alltoall(comm, sent, made)
    return [comm_like(sendobj[0], x) for x in made]


# ---- what takes any object


@jit
def send(comm, obj, dest, tag=0):
    comm_objects()


@jit
def ssend(comm, obj, dest, tag=0):
    comm_objects()


@jit
def recv(comm, buf=None, source=-1, tag=-1):
    comm_objects()


@jit
def sendrecv(comm, sendobj, dest, sendtag=0, recvbuf=None, source=-1, recvtag=-1):
    comm_objects()


@jit
def gather(comm, sendobj, root=0):
    comm_objects()


@jit
def Get_rank(comm):
    return comm_rank(comm._address)


@jit
def Get_size(comm):
    return comm_size(comm._address)


@jit
def not_compiled(comm, buf=None, dest=None, tag=None, source=None, status=None, *others):
    comm_others()


_properties = {"rank": rank, "size": size}
_methods = {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func")
    and not name.startswith("_")
    and name not in (*operations, "IN_PLACE", "rank", "size")
}


def member(name):
    """(kind, compiled function) of a member of communicators, or None."""
    if name in _properties:
        return "property", _properties[name]
    if name in _methods:
        return "method", _methods[name]
    return ("method", not_compiled) if hasattr(_Comm, name) else None
