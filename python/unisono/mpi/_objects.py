"""Messages of Python objects, by pickle, in the order in which they were asked for."""

from ._pickles import pickle
from ._status import Status
from ._types import _Request


class ObjectRequest(_Request):
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
        super().__init__()
        self._comm = comm
        self._source = source
        self._tag = tag
        self._data = None
        self._status = Status()
        self._is_done = False  # and somebody has the object
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

    @property
    def _is_active(self):
        return not self._is_done

    def _object(self, status):
        self._is_done = True
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

    def Test(self, status=None):
        """Whether the object has arrived."""
        return self.test(status)[0]

    def Wait(self, status=None):
        """Wait until the object has arrived."""
        self.wait(status)
        return True

    def Get_status(self, status=None):
        """Whether the object has arrived, which is still to be asked for."""
        if self._data is None and not self._advance():
            return False
        if status is not None:
            status.__dict__.update(self._status.__dict__)
        return True

    def Cancel(self):
        """Ask for the object no more."""
        if self._data is None:
            _waiting(self._comm).remove(self)
            self._data, self._status.cancelled = b"", True

    Free = cancel = Cancel
    get_status = Get_status


_lists = []  # of all communicators


def _waiting(comm):
    known = comm.__dict__.get("_waiting")
    if known is None:
        known = comm.__dict__["_waiting"] = []
        _lists.append(known)
    return known


def wait_for(request, status=None):
    """Wait for a request of memory; it may be one to this rank itself, which a receive of an object waits for."""
    while any(_lists):
        if request.Test(status):
            return
        for receive in [r for waiting in _lists for r in waiting]:
            receive._advance()
    request.Wait(status)


def dumped(obj):
    """The object as bytes."""
    return pickle.dumps(obj)


def loaded(data):
    """The object of bytes; None of an empty message, as PROC_NULL sends."""
    return pickle.loads(data) if data else None
