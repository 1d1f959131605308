"""Arrays of the host as arguments of launches: what is copied to the device, and what back."""

from __future__ import annotations


class ArgumentHandler:
    """An array of the host that a launch copies; see `In`, `Out`, `InOut`."""

    copies_in = copies_out = False

    def __init__(self, ary):
        self.array = ary
        self._block = None

    def get_device_alloc(self):
        """The block on the device."""
        from ._allocations import host_bytes, mem_alloc

        if self._block is None:
            self._block = mem_alloc(max(host_bytes(self.array, type(self).__name__).size, 1))
        return self._block

    def __repr__(self):
        return f"{type(self).__name__}({self.array!r})"


class In(ArgumentHandler):
    """An array of the host that is copied to the device before a launch.

    Parameters
    ----------
    ary : array or buffer
        Contiguous.
    """

    copies_in = True


class Out(ArgumentHandler):
    """An array of the host that is filled from the device behind a launch, which it then waits for."""

    copies_out = True


class InOut(In, Out):
    """An array of the host that is copied to the device before a launch, and back behind it."""
