"""The memory of an array as ``a.data`` gives it: a buffer with its address and device."""

from __future__ import annotations

from ... import _engine


class MemoryPointer(_engine._BufferOfArray):
    """Memory of an array, which it keeps alive.

    It has the buffer protocol and the attributes of a memoryview, and CuPy's names of a pointer.

    Parameters
    ----------
    array : ndarray
    """

    _has_format = True

    def __init__(self, array):
        self._array = array

    @property
    def ptr(self):
        """Address of the first element: on the host or a CUDA device; of OpenCL the buffer's handle plus the offset.

        From then on statements on the array are complete when they return. It is 0 where there are no elements.
        """
        if not self._array.size:
            return 0
        plain, offset = self._plain()
        if self._array.device.name == "cpu":
            return _engine._lend_on_host(plain) + offset
        return sum(_engine._lend_buffer(plain)) + offset

    def _plain(self):
        """(array of numbers in whose memory the elements lie, bytes before the first one)."""
        memory = getattr(self._array, "_memory", None)  # that of records
        return (self._array, 0) if memory is None else (memory.bytes, self._array._offset)

    @property
    def mem(self):
        """The memory itself, which has `ptr`, `size` and `device_id`."""
        return self

    @property
    def size(self):
        """Bytes of the elements."""
        return self._array.nbytes

    @property
    def device(self):
        """The Device."""
        return self._array.device

    @property
    def device_id(self):
        """Number of the device among those of its kind."""
        last = self.device.name.rpartition(":")[2]
        return int(last) if last.isdigit() else 0

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        """A pointer to bytes behind the start."""
        import unisono as un

        plain, start = self._plain()
        flat = plain.reshape(-1, copy=False).view(un.uint8)
        return MemoryPointer(flat[start + offset :])

    def copy_from(self, mem, size):
        """Copy bytes from another pointer, or from an address of the host."""
        import ctypes

        import numpy as np

        target = (self + 0)._array[:size]
        if isinstance(mem, MemoryPointer):
            target[...] = (mem + 0)._array[:size]
            return
        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        target[...] = np.frombuffer((ctypes.c_char * size).from_address(address), np.uint8)

    copy_from_device = copy_from_host = copy_from

    def copy_to_host(self, mem, size):
        """Copy bytes to an address of the host."""
        import ctypes

        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        ctypes.memmove(address, (self + 0)._array[:size].tobytes(), size)

    def memset(self, value, size):
        """Set bytes to a value."""
        (self + 0)._array[:size] = value

    def __array__(self, dtype=None, copy=None):
        return self._array._host() if hasattr(self._array, "_memory") else self._array

    def _view(self):
        return memoryview(self.__array__())

    def __getattr__(self, name):
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(self._view(), name)

    def __len__(self):
        return len(self._view())

    def __getitem__(self, key):
        return self._view()[key]

    def __setitem__(self, key, value):
        self._view()[key] = value

    def __eq__(self, other):
        if isinstance(other, MemoryPointer):
            other = other._view()
        return self._view() == other

    __hash__ = None

    def __repr__(self):
        return f"<MemoryPointer {self.ptr:#x} on {self.device.name}, {self.size} bytes>"
