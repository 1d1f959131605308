"""How objects become bytes and bytes objects again: by pickle, unless a program sets something else."""

import pickle as _standard


class Pickle:
    """Two functions that make bytes of objects, and objects of bytes.

    Examples
    --------
    >>> import unisono as un
    >>> pickle = un.mpi.Pickle()
    >>> pickle.loads(pickle.dumps([1, "two"]))
    [1, 'two']
    >>> import json
    >>> un.mpi.pickle.__init__(lambda obj: json.dumps(obj).encode(), json.loads)  # of all messages
    >>> un.mpi.COMM_SELF.sendrecv((1, 2), 0)
    [1, 2]
    >>> un.mpi.pickle.__init__()
    """

    PROTOCOL = 5

    def __init__(self, dumps=None, loads=None, protocol=None):
        self._dumps = dumps
        self._loads = _standard.loads if loads is None else loads
        self.PROTOCOL = type(self).PROTOCOL if dumps is None and protocol is None else protocol

    def dumps(self, obj):
        """The object as bytes."""
        if self._dumps is None:
            return _standard.dumps(obj, self.PROTOCOL)
        if self.PROTOCOL is None:
            return self._dumps(obj)
        return self._dumps(obj, self.PROTOCOL)

    def loads(self, data):
        """The object of bytes."""
        return self._loads(data)

    def dumps_oob(self, obj):
        """The object as bytes, and the memory of arrays and the like in it, apart."""
        buffers = []
        data = _standard.dumps(obj, 5, buffer_callback=buffers.append)
        return data, [b.raw() for b in buffers]

    def loads_oob(self, data, buffers):
        """The object of both."""
        return _standard.loads(data, buffers=buffers)


pickle = Pickle()
