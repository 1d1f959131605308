"""Memory as bytes: what windows, `Alloc_mem` and addresses stand for."""

from ..._engine import ndarray

BOTTOM = None  # no memory


class buffer(ndarray):
    """Memory as an array of bytes, which other arrays look at.

    Examples
    --------
    >>> import unisono as un
    >>> memory = un.mpi.Alloc_mem(16)
    >>> x = un.frombuffer(memory)
    >>> x[:] = [1.0, 2.0]
    >>> memory.view("float64").tolist(), memory.nbytes
    ([1.0, 2.0], 16)
    """

    format = "B"

    @classmethod
    def allocate(cls, nbytes, clear=False):
        """New memory of so many bytes."""
        import unisono

        return _as(cls, unisono.zeros(nbytes, "uint8"))

    @classmethod
    def frombuffer(cls, buf, readonly=False):
        """The memory of an object."""
        import unisono

        view = memoryview(buf)
        if not view.nbytes:
            return cls.allocate(0)
        return _as(cls, unisono.frombuffer(view.toreadonly() if readonly else view, "uint8"))

    @classmethod
    def fromaddress(cls, address, nbytes, readonly=False):
        """The memory at an address, which must stay."""
        return cls.frombuffer(at_address(address, nbytes, None), readonly)

    def __bool__(self):
        return self.nbytes > 0  # as a memoryview answers, whatever the bytes are

    def __setitem__(self, index, value):
        if not isinstance(value, int | ndarray):
            # Bytes are what they are, no text of a number.
            if isinstance(index, slice):  # at once, since other ranks may look at the memory
                memoryview(self).cast("B")[index] = memoryview(value).cast("B")
                return
            value = buffer.frombuffer(value)
        super().__setitem__(index, value)

    def cast(self, format, shape=None):
        """The same memory as a memoryview of other elements."""
        view = memoryview(self).cast("B")
        return view.cast(format) if shape is None else view.cast(format, shape)

    @property
    def address(self):
        """Where it begins."""
        return Get_address(self)

    @property
    def readonly(self):
        """Whether it cannot be written."""
        return memoryview(self).readonly

    def toreadonly(self):
        """The same memory, not to be written."""
        return type(self).frombuffer(self, readonly=True)


def _as(cls, array):
    return array.view(cls)


def at_address(address, nbytes, owner):
    """The memory at an address, as an object with the buffer protocol that keeps `owner` alive."""
    import ctypes

    memory = (ctypes.c_char * nbytes).from_address(address)
    memory.owner = owner
    return memory


def Get_address(location):
    """Where the memory of an object begins.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Get_address(un.zeros(3)) > 0
    True
    """
    import numpy

    view = memoryview(location)
    return numpy.frombuffer(view, "u1").ctypes.data if view.nbytes else 0


def Alloc_mem(size, info=None):
    """New memory of so many bytes.

    Examples
    --------
    >>> import unisono as un
    >>> len(un.mpi.Alloc_mem(8))
    8
    """
    return buffer.allocate(size)


def Free_mem(mem):
    """Give memory back: nothing is to be done, it goes with the last array that uses it.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Free_mem(un.mpi.Alloc_mem(8))
    """
