"""What is known of a message that arrived."""

import dataclasses

UNDEFINED = -32766  # where there is no number; Open MPI's and MPICH's


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
    error: int = 0
    cancelled: bool = False

    def Get_source(self):
        """The rank that sent it."""
        return self.source

    def Set_source(self, source):
        """Set the rank that sent it."""
        self.source = source

    def Get_tag(self):
        """Its tag."""
        return self.tag

    def Set_tag(self, tag):
        """Set its tag."""
        self.tag = tag

    def Get_error(self):
        """The number of an error, 0 where there was none."""
        return self.error

    def Set_error(self, error):
        """Set the number of an error."""
        self.error = error

    def Is_cancelled(self):
        """Whether the request was cancelled before the message came."""
        return self.cancelled

    def Set_cancelled(self, flag):
        """Set whether the request was cancelled."""
        self.cancelled = flag

    def Get_count(self, dtype=None):
        """Its number of elements of that dtype, or of bytes; UNDEFINED where they are no whole number."""
        if dtype is None:
            return self.bytes
        return _count(self.bytes, _size(dtype))

    def Get_elements(self, dtype=None):
        """Its number of elements that are numbers, of a dtype made of several."""
        if dtype is None:
            return self.bytes
        return _count(self.bytes, _item(dtype))

    def Set_elements(self, dtype, count):
        """Set its size to that of so many elements."""
        self.bytes = count * _item(dtype)

    @property
    def count(self):
        """Its size in bytes."""
        return self.bytes

    @count.setter
    def count(self, count):
        self.bytes = count


def _count(size, of):
    if of == 0:
        return 0
    return size // of if size % of == 0 else UNDEFINED


def _item(dtype):
    import numpy

    from ._buffers.datatypes import Datatype

    return (dtype.dtype if isinstance(dtype, Datatype) else numpy.dtype(dtype)).itemsize


def _size(dtype):
    from ._buffers.datatypes import Datatype

    return dtype.size if isinstance(dtype, Datatype) else _item(dtype)
