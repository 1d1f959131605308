"""Messages that one receive was promised: probed and matched, so that nobody else gets them."""

from ._objects import loaded
from ._types import _Matched, _Request


class Message:
    """A message that `Mprobe` found, to be received once.

    Examples
    --------
    >>> import unisono as un
    >>> comm = un.mpi.COMM_SELF
    >>> request = comm.isend([1, 2], dest=0)
    >>> message = comm.mprobe(source=0)
    >>> message.recv(), bool(message)
    ([1, 2], False)
    >>> request.wait()
    """

    def __init__(self, message=None):
        self._matched = None if message is None else message._matched

    def __bool__(self):
        return self._matched is not None

    def __eq__(self, other):
        return isinstance(other, Message) and self._matched is other._matched

    __hash__ = object.__hash__

    def __reduce__(self):
        name = {None: "MESSAGE_NULL", "nobody": "MESSAGE_NO_PROC"}.get(self._matched)
        if name is None:
            raise ValueError("Message: a message that is still to be received cannot be pickled")
        if self is globals()[name]:
            return name
        return (Message, (globals()[name],))

    def _taken(self):
        if self._matched is None:
            raise ValueError("Message: it was received already, or there is none; probe again")
        taken = self._matched
        if self is not MESSAGE_NO_PROC:
            self._matched = None
        return taken if isinstance(taken, _Matched) else None

    def Irecv(self, buf):
        """Receive it into the buffer; the request is done when it is asked."""
        matched = self._taken()
        return _Request._nothing() if matched is None else matched.receive(buf)

    def Recv(self, buf, status=None):
        """Receive it into the buffer."""
        self.Irecv(buf).Wait(status)

    def recv(self, status=None):
        """Receive the object."""
        matched = self._taken()
        if matched is None:
            _Request._nothing().Wait(status)
            return None
        return loaded(matched.receive_bytes(status))

    def irecv(self):
        """Receive the object; ``wait()`` of the result returns it."""
        return _Got(self._taken())

    @classmethod
    def Probe(cls, comm, source=-1, tag=-1, status=None):
        """Wait for a message and match it."""
        return comm.Mprobe(source, tag, status)

    @classmethod
    def Iprobe(cls, comm, source=-1, tag=-1, status=None):
        """Match a message that is there; None where none is."""
        return comm.Improbe(source, tag, status)

    probe, iprobe = Probe, Iprobe


class _Got(_Request):
    """A receive of a matched object."""

    def __init__(self, matched):
        super().__init__()
        self._take(_Request._nothing())
        self._matched = matched

    def wait(self, status=None):
        """The object, once."""
        matched, self._matched = self._matched, None
        if matched is None:
            self.Wait(status)
            return None
        self.Wait()
        return loaded(matched.receive_bytes(status))

    def test(self, status=None):
        """True, and the object."""
        return True, self.wait(status)


MESSAGE_NULL, MESSAGE_NO_PROC = Message(), Message()
MESSAGE_NO_PROC._matched = "nobody"


def match(comm, source, tag, waits, status):
    """The next such message; None if there is none and nobody waits."""
    if source == -2:  # PROC_NULL
        _Request._nothing().Wait(status)
        return Message(MESSAGE_NO_PROC)
    found = comm._match(source, tag, waits, status)
    if found is None:
        return None
    made = Message()
    made._matched = found
    return made
