"""Messages of Python objects, by pickle, in the order in which they were asked for."""

import dataclasses
import pickle

from .._engine import _Request

UNDEFINED = -32766  # where there is no index; Open MPI's and MPICH's


class ObjectRequest:
    """A receive of an object under way.

    Examples
    --------
    >>> import unisono as un
    >>> request = un.mpi.COMM_SELF.irecv(source=0, tag=3)
    >>> un.mpi.COMM_SELF.send("word", dest=0, tag=3)
    >>> request.wait()
    'word'
    """

    def __init__(self, comm, source, tag):
        self._comm = comm
        self._source = source
        self._tag = tag
        self._data = None
        self._status = Status()
        _waiting(comm).append(self)

    def _fits(self, source, tag):
        return self._source in (-1, source) and self._tag in (-1, tag)

    def _advance(self):
        """Receive what has arrived, each message by the first request that it fits."""
        arrived = Status()
        while self._data is None and self._comm.Iprobe(self._source, self._tag, arrived):
            source, tag = arrived.source, arrived.tag
            first = next((r for r in _waiting(self._comm) if r._fits(source, tag)), self)
            first._data = self._comm._receive_bytes(source, tag, True, first._status)
            _waiting(self._comm).remove(first)
        return self._data is not None

    def _object(self, status):
        if status is not None:
            status.__dict__.update(self._status.__dict__)
        return loaded(self._data)

    def test(self, status=None):
        """Whether the object has arrived, and the object or None."""
        if self._data is None and not self._advance():
            return False, None
        return True, self._object(status)

    def wait(self, status=None):
        """Wait for the object and return it."""
        while self._data is None and not self._advance():
            self._comm.Probe(self._source, self._tag)
        return self._object(status)


@dataclasses.dataclass(eq=False, repr=False)
class Status:
    """What arrived: its source, its tag and its size.

    Examples
    --------
    >>> import unisono as un
    >>> status = un.mpi.Status()
    >>> comm = un.mpi.COMM_SELF
    >>> request = comm.isend("abc", dest=0, tag=7)
    >>> comm.recv(status=status), status.source, status.tag
    ('abc', 0, 7)
    >>> request.wait()
    """

    source: int = -1
    tag: int = -1
    bytes: int = 0

    def Get_source(self):
        """The rank that sent it."""
        return self.source

    def Get_tag(self):
        """Its tag."""
        return self.tag

    def Get_count(self, dtype=None):
        """Its number of elements of that dtype, or of bytes."""
        if dtype is None:
            return self.bytes
        import numpy

        return self.bytes // numpy.dtype(dtype).itemsize


def _waiting(comm):
    return comm.__dict__.setdefault("_waiting", [])


def dumped(obj):
    """The object as bytes."""
    return pickle.dumps(obj, protocol=5)


def loaded(data):
    """The object of bytes; None of an empty message, as PROC_NULL sends."""
    return pickle.loads(data) if data else None


def _test(self, status=None):
    """Whether it is done, and None (buffers hold what arrived)."""
    return self.Test(status), None


def _wait(self, status=None):
    """Wait until it is done."""
    self.Wait(status)


def _wait_all(requests):
    """Wait until all are done; what lower-case receives got, in their order."""
    return [request.wait() for request in requests]


def _Wait_all(requests):
    """Wait until all are done."""
    for request in requests:
        request.wait()


def _Wait_any(requests, status=None):
    """Wait until one that is under way is done; its index, or UNDEFINED where none is under way."""
    requests = list(requests)
    for k, request in enumerate(requests):
        if not isinstance(request, _Request):
            raise TypeError(
                f"Waitany: element {k} is {type(request).__name__!r}; expected a Request, as Isend and Irecv give"
            )
    found = _Request._wait_any(requests)
    if found < 0:
        return UNDEFINED
    requests[found].Wait(status)
    return found


def _Test_all(requests):
    """Whether all are done."""
    return all([request.Test() for request in requests])


class _OfRequests:
    """A function of a list of requests; compiled code has one of its own."""

    def __init__(self, name, function):
        self.__name__ = name
        self.__doc__ = function.__doc__
        self._function = function

    def __call__(self, requests, *status, **given):
        return self._function(requests, *status, **given)

    def __repr__(self):
        return f"unisono.mpi.Request.{self.__name__}"

    @property
    def _in_compiled_code(self):
        from .._jit.mpi_library import of_requests

        return of_requests[self.__name__]


_Request._holds_compiled_functions = True  # for compiled code, which finds these by name
_Request.test = _test
_Request.wait = _wait
_Request.Waitall = _OfRequests("Waitall", _Wait_all)
_Request.Waitany = _OfRequests("Waitany", _Wait_any)
_Request.Testall = _OfRequests("Testall", _Test_all)
_Request.waitall = staticmethod(_wait_all)
Request = _Request
ObjectRequest.Waitall = staticmethod(_Wait_all)
ObjectRequest.waitall = staticmethod(_wait_all)
