"""``cupy.cuda.MemoryPool`` and its like: names for the pool that each device has."""

from __future__ import annotations

import contextlib

from ... import memory as _memory
from ..._arrays.exchange.memory_pointer import MemoryPointer
from ...cuda.devices import current_device as _current_device

__all__ = [
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PinnedMemoryPool",
    "alloc",
    "alloc_pinned_memory",
    "get_allocator",
    "malloc_managed",
    "set_allocator",
    "set_pinned_memory_allocator",
    "using_allocator",
]

OutOfMemoryError = MemoryError  # what is raised at the limit


class MemoryPool:
    """CuPy's names of a memory pool, for that of the current device.

    Parameters
    ----------
    allocator : callable, optional
        CuPy's, without effect: memory comes from the device's driver.

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> pool = cp.get_default_memory_pool()
    >>> pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    True
    """

    def __init__(self, allocator=None):
        pass

    def _stats(self):
        import unisono as un

        un.eval()  # arrays that statements before make are counted, as if they had been made there
        return _memory.stats(_current_device())

    def malloc(self, size):
        """Memory of that many bytes.

        Parameters
        ----------
        size : int

        Returns
        -------
        MemoryPointer
        """
        import unisono as un

        return MemoryPointer(un.empty(size, un.uint8, device=_current_device()))

    def used_bytes(self):
        """Bytes that arrays use."""
        return self._stats()["in_use"]

    def free_bytes(self):
        """Bytes that are kept for reuse."""
        return self._stats()["cached"]

    def total_bytes(self):
        """Both together."""
        found = self._stats()
        return found["in_use"] + found["cached"]

    def n_free_blocks(self):
        """1 where memory is kept for reuse."""
        return int(self.free_bytes() > 0)

    def free_all_blocks(self, stream=None):
        """Give back what is kept for reuse."""
        _memory.trim(_current_device())

    free_all_free = free_all_blocks

    def get_limit(self):
        """The most bytes that arrays may use; 0 for no limit."""
        return self._stats()["limit"] or 0

    def set_limit(self, size=None, fraction=None):
        """Set the most bytes that arrays may use.

        Parameters
        ----------
        size : int, optional
            0 removes the limit.
        fraction : float, optional
            Of the device's memory, instead of `size`.

        Raises
        ------
        ValueError
            If both or none are given, or they are out of range.
        """
        if (size is None) == (fraction is None):
            raise ValueError(
                f"set_limit: give either size or fraction; got size={size} and fraction={fraction}"
            )
        device = _current_device()
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: fraction lies between 0 and 1; got {fraction}")
            size = int(fraction * device.memory_bytes)
        elif size < 0:
            raise ValueError(f"set_limit: size is a number of bytes, or 0 for no limit; got {size}")
        _memory.set_limit(size or None, device)


class PinnedMemoryPool(MemoryPool):
    """The same pool: memory of the host is kept with it."""

    def malloc(self, size):
        """Memory of the host of that many bytes."""
        import unisono as un

        return MemoryPointer(un.empty(size, un.uint8, device="cpu"))


_default, _default_pinned = MemoryPool(), PinnedMemoryPool()


def alloc(size):
    """`MemoryPool.malloc` of the current device."""
    return _default.malloc(size)


def alloc_pinned_memory(size):
    """Memory of the host of that many bytes, a buffer, from the allocator of `set_pinned_memory_allocator`."""
    return _pinned_allocator(size)


_pinned_allocator = _default_pinned.malloc


def set_pinned_memory_allocator(allocator=None):
    """Choose what `alloc_pinned_memory` calls; copies between host and device use memory of their own.

    Parameters
    ----------
    allocator : callable, optional
        Of a number of bytes; by default the pool's.

    Raises
    ------
    TypeError
        If it cannot be called.
    """
    global _pinned_allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(
            f"set_pinned_memory_allocator: got {type(allocator).__name__}; expected a function of a number of bytes, or None"
        )
    _pinned_allocator = _default_pinned.malloc if allocator is None else allocator


def malloc_managed(size):
    """As `alloc`."""
    return _default.malloc(size)


def get_allocator():
    """What new arrays get their memory from."""
    return _default.malloc


def set_allocator(allocator=None):
    """Take an allocator of CuPy's kinds, without effect: arrays have their memory from the device's pool.

    Parameters
    ----------
    allocator : callable, optional
        None, `malloc` of a pool, or `malloc_managed`.

    Raises
    ------
    TypeError
        For functions of the program.
    """
    ours = getattr(allocator, "__self__", None)
    if (
        allocator is not None
        and allocator is not malloc_managed
        and not isinstance(ours, MemoryPool)
    ):
        raise TypeError(
            f"set_allocator: memory comes from the device's pool; got {allocator!r}; expected None or malloc of a pool"
        )


@contextlib.contextmanager
def using_allocator(allocator=None):
    """A block with `set_allocator`."""
    set_allocator(allocator)
    yield
