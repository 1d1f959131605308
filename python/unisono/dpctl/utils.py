"""``dpctl.utils``: the queue and kind of memory of several arrays together, and events in the order of a program."""

from __future__ import annotations

import contextlib
import os

from ._devices import SyclDevice
from ._queues import SyclQueue

__all__ = [
    "ExecutionPlacementError", "SequentialOrderManager", "get_coerced_usm_type", "get_execution_queue",
    "intel_device_info", "onetrace_enabled", "validate_usm_type",
]  # fmt: skip

_KINDS = ("device", "shared", "host")


class ExecutionPlacementError(Exception):
    """Arrays lie on different queues, so that none is the one to compute on."""


def _listed(what, given):
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{what}: expected a list or tuple; got {type(given).__name__}")
    return given


def get_execution_queue(qs, /):
    """The queue that all of these are, or None.

    Parameters
    ----------
    qs : list or tuple of SyclQueue

    Returns
    -------
    SyclQueue or None
    """
    found = None
    for q in _listed("get_execution_queue", qs):
        if not isinstance(q, SyclQueue) or (found is not None and q != found):
            return None
        found = q if found is None else found
    return found


def get_coerced_usm_type(usm_types, /):
    """The kind of memory of what is computed from these: "device" before "shared" before "host".

    Parameters
    ----------
    usm_types : list or tuple of {"device", "shared", "host"}

    Returns
    -------
    str or None
        None if there are none, or one is no such kind.

    Examples
    --------
    >>> from unisono.dpctl import utils
    >>> utils.get_coerced_usm_type(["host", "shared"])
    'shared'
    """
    given = _listed("get_coerced_usm_type", usm_types)
    if not given or not all(t in _KINDS for t in given):
        return None
    return min(given, key=_KINDS.index)


def validate_usm_type(usm_type, /, *, allow_none=True):
    """Refuse what is no kind of memory.

    Raises
    ------
    TypeError, ValueError
        If it is no text; if it is another text.
    """
    if usm_type is None and allow_none:
        return
    if not isinstance(usm_type, str):
        raise TypeError(
            f"validate_usm_type: expected one of {', '.join(_KINDS)}; got {type(usm_type).__name__}"
        )
    if usm_type not in _KINDS:
        raise ValueError(
            f"validate_usm_type: expected one of {', '.join(_KINDS)}; got {usm_type!r}"
        )


def intel_device_info(dev, /):
    """What is known of Intel's devices alone: nothing.

    Returns
    -------
    dict
    """
    if not isinstance(dev, SyclDevice):
        raise TypeError(f"intel_device_info: expected a SyclDevice; got {type(dev).__name__}")
    return {}


@contextlib.contextmanager
def onetrace_enabled():
    """Set ``PTI_ENABLE_COLLECTION`` for the length of a block, for Intel's tracing tools."""
    name = "PTI_ENABLE_COLLECTION"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class _Order:
    """Events of one queue that later work waits for."""

    def __init__(self, host_tasks=(), submitted=()):
        self._host_tasks, self._submitted = list(host_tasks), list(submitted)

    submitted_events = property(lambda self: list(self._submitted), doc="Those of computations.")
    host_task_events = property(lambda self: list(self._host_tasks), doc="Those of the host.")
    num_submitted_events = property(lambda self: len(self._submitted), doc="How many there are.")
    num_host_task_events = property(lambda self: len(self._host_tasks), doc="How many there are.")

    def add_event_pair(self, host_task_ev, comp_ev):
        """Add an event, or a list of them, of each kind."""
        for kept, given in ((self._host_tasks, host_task_ev), (self._submitted, comp_ev)):
            kept.extend(given if isinstance(given, (list, tuple)) else [given])

    def wait(self):
        """Wait for all, and forget them."""
        for event in (*self._submitted, *self._host_tasks):
            event.wait()
        self._submitted, self._host_tasks = [], []

    def __copy__(self):
        return _Order(self._host_tasks, self._submitted)


class _Orders:
    """The `_Order` of each queue."""

    def __init__(self):
        self._orders = {}

    def __getitem__(self, q):
        if not isinstance(q, SyclQueue):
            raise TypeError(f"SequentialOrderManager: expected a SyclQueue; got {type(q).__name__}")
        return self._orders.setdefault(q, _Order())

    def clear(self):
        """Forget all events."""
        self._orders.clear()


SequentialOrderManager = _Orders()
