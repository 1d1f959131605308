"""Blocks in which calls that make the host wait for a device are refused: ``cupyx.allow_synchronize``."""

from __future__ import annotations

import contextlib
import threading

__all__ = ["DeviceSynchronized", "allow_synchronize"]

_mine = threading.local()


class DeviceSynchronized(RuntimeError):
    """The host would have waited for a device in a block that forbids it."""


@contextlib.contextmanager
def allow_synchronize(allow):
    """A block in which the calling thread may, or may not, wait for devices.

    Copies to the host (``a.get()``, ``cupy.asnumpy``) and `synchronize` of devices, streams and events count; other
    reads of elements, such as printing, do not.

    Parameters
    ----------
    allow : bool
        False: those calls raise `DeviceSynchronized`.

    Examples
    --------
    >>> import unisono.cupy as cp, unisono.cupyx as cupyx
    >>> with cupyx.allow_synchronize(False):
    ...     try:
    ...         cp.arange(3).get()
    ...     except cupyx.DeviceSynchronized:
    ...         print("waits")
    waits
    """
    before = getattr(_mine, "may_wait", True)
    _mine.may_wait = allow
    try:
        yield
    finally:
        _mine.may_wait = before


def check(what):
    """Raise where the block around a call forbids to wait."""
    if not getattr(_mine, "may_wait", True):
        raise DeviceSynchronized(
            f"{what}: waits for the device; the block is one of allow_synchronize(False); move it behind the block"
        )
