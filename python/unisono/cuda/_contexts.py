"""Devices, contexts, streams and events with the names of PyCUDA's driver."""

from __future__ import annotations

import os
import time
import weakref

from .. import _engine
from . import devices as _devices
from ._allocations import LogicError
from .devices import current_device

__all__ = ["Context", "Device", "Event", "Stream", "device_attribute", "init", "synchronize"]

_streams = weakref.WeakSet()

# PyCUDA's name, and that of the driver's property or of ours; None: not known of devices without CUDA.
_attributes = {
    "MAX_THREADS_PER_BLOCK": "max_work_group_size", "MULTIPROCESSOR_COUNT": "compute_units",
    "MAX_SHARED_MEMORY_PER_BLOCK": "local_memory_bytes", "SHARED_MEMORY_PER_BLOCK": "local_memory_bytes",
    "WARP_SIZE": "warp_size", "CLOCK_RATE": "clock_rate", "TOTAL_CONSTANT_MEMORY": "max_constant_buffer_size",
    "MAX_REGISTERS_PER_BLOCK": "max_registers_per_block", "CONCURRENT_KERNELS": "concurrent_kernels",
    "GPU_OVERLAP": "gpu_overlap", "ECC_ENABLED": "ecc_enabled", "INTEGRATED": "integrated", "COMPUTE_MODE": "compute_mode",
    "CAN_MAP_HOST_MEMORY": "can_map_host_memory", "UNIFIED_ADDRESSING": "unified_addressing",
    "KERNEL_EXEC_TIMEOUT": "kernel_exec_timeout", "ASYNC_ENGINE_COUNT": "async_engine_count",
    "COMPUTE_CAPABILITY_MAJOR": "compute_capability_major", "COMPUTE_CAPABILITY_MINOR": "compute_capability_minor",
    "MEMORY_CLOCK_RATE": "memory_clock_rate", "GLOBAL_MEMORY_BUS_WIDTH": "global_memory_bus_width",
    "L2_CACHE_SIZE": "l2_cache_size", "MAX_THREADS_PER_MULTIPROCESSOR": "max_threads_per_multiprocessor",
    "MANAGED_MEMORY": "managed_memory", "PCI_BUS_ID": "pci_bus_id", "PCI_DEVICE_ID": "pci_device_id",
    "MAX_BLOCK_DIM_X": 0, "MAX_BLOCK_DIM_Y": 1, "MAX_BLOCK_DIM_Z": 2,
    "MAX_GRID_DIM_X": "max_grid_dim_x", "MAX_GRID_DIM_Y": "max_grid_dim_y", "MAX_GRID_DIM_Z": "max_grid_dim_z",
}  # fmt: skip
_otherwise = {
    "WARP_SIZE": 32, "CONCURRENT_KERNELS": 1, "GPU_OVERLAP": 0, "COMPUTE_MODE": 0, "COMPUTE_CAPABILITY_MAJOR": 0,
    "COMPUTE_CAPABILITY_MINOR": 0, "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 2**16 - 1, "MAX_GRID_DIM_Z": 2**16 - 1,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024, "SHARED_MEMORY_PER_BLOCK": 48 * 1024, "TOTAL_CONSTANT_MEMORY": 64 * 1024,
    "MAX_THREADS_PER_BLOCK": 1024, "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
}  # fmt: skip


class _Attribute(str):
    """A name of what can be asked of a device."""

    __slots__ = ()

    def __repr__(self):
        return f"device_attribute.{self}"


class device_attribute:
    """Names of what `Device.get_attribute` tells."""


for _name in _attributes:
    setattr(device_attribute, _name, _Attribute(_name))


def init(flags=0):
    """Nothing: devices are found when they are used."""


class Device:
    """A device by its number, as `unisono.cuda.select_device` counts them, or by name.

    Parameters
    ----------
    number : int or str

    Raises
    ------
    DeviceError
        If there is no such device.

    Examples
    --------
    >>> import unisono.cuda.driver as cuda
    >>> cuda.Device("cpu").name()
    'cpu'
    """

    def __init__(self, number=0):
        if isinstance(number, Device):
            number = number._device.name
        if isinstance(number, int):
            there = _present()
            if not 0 <= number < len(there):
                raise LogicError(
                    f"Device: there is no device {number}; got {len(there)} devices; expected a number below that, or "
                    f"a name of unisono.devices()"
                )
            self._device = there[number]
        else:
            self._device = _engine._find_device(str(number))

    @staticmethod
    def count():
        """How many devices there are: CUDA devices, or all where there are none."""
        return len(_present())

    def name(self):
        """What its driver calls it, or its name here."""
        is_cuda = self._device.name.startswith("cuda")
        return (self._device.description or self._device.name) if is_cuda else self._device.name

    def compute_capability(self):
        """Of a CUDA device, as a pair; (0, 0) of others."""
        return _devices._Current(self._device).compute_capability

    def total_memory(self):
        """Bytes of its memory."""
        return self._device.memory_bytes

    def pci_bus_id(self):
        """Of a CUDA device, as text."""
        return str(self._device.properties.get("pci_bus_id", self._device.name))

    def get_attribute(self, attribute):
        """What a name of `device_attribute` says of it.

        Raises
        ------
        LogicError
            If that is not known of this device.
        """
        source = _attributes.get(str(attribute))
        sizes = list(self._device.max_work_item_sizes)
        if isinstance(source, int):
            known = sizes[source] if source < len(sizes) else None
        else:
            known = self._device.properties.get(source)
            if known is None and source is not None:
                known = getattr(self._device, source, None)
        if not known:
            known = known if known is not None and source in self._device.properties else None
            known = _otherwise.get(str(attribute)) if known is None else known
        if known is None:
            raise LogicError(
                f"get_attribute: {attribute} of {self._device.name} is not known; got properties "
                f"{sorted(self._device.properties)[:6]}...; ask unisono.devices() for what there is"
            )
        return int(known)

    def get_attributes(self):
        """All that is known, by name."""
        known = {}
        for name in _attributes:
            try:
                known[getattr(device_attribute, name)] = self.get_attribute(name)
            except LogicError:
                continue
        return known

    def __getattr__(self, name):
        if name.upper() in _attributes:
            return self.get_attribute(name.upper())
        raise AttributeError(f"Device has no attribute '{name}'; see device_attribute")

    def make_context(self, flags=0):
        """A Context of the device, made the current one."""
        made = Context._of(self)
        made.push()
        return made

    def retain_primary_context(self):
        """A Context of the device, not made current."""
        return Context._of(self)

    def can_access_peer(self, other):
        """False: devices copy through the host."""
        return False

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return f"<cuda.Device {self._device.name}>"


def _present():
    return _devices._cuda_devices() or list(_engine._devices())


def _stack():
    if not hasattr(_devices._mine, "contexts"):
        _devices._mine.contexts = []
    return _devices._mine.contexts


class Context:
    """A device that is current from `push` to `pop`; contexts of one device share its memory.

    Made by `Device.make_context`, as PyCUDA's.
    """

    def __init__(self):
        raise LogicError("Context: contexts are made by Device.make_context(); got a call")

    @classmethod
    def _of(cls, device):
        self = object.__new__(cls)
        self._device, self._is_detached = device, False
        return self

    def push(self):
        """Make it the current one of this thread."""
        if self._is_detached:
            raise LogicError("Context.push: the context was detached; got push(); make a new one")
        _stack().append((self, getattr(_devices._mine, "device", None)))
        _devices._mine.device = self._device._device

    @staticmethod
    def pop():
        """Make the context before it the current one."""
        if not _stack():
            raise LogicError("Context.pop: no context is current; got pop() without make_context()")
        _devices._mine.device = _stack().pop()[1]

    def detach(self):
        """End it; memory made in it stays as long as its objects do."""
        if self._is_detached:
            raise LogicError("Context.detach: the context was detached before; got a second call")
        if _stack() and _stack()[-1][0] is self:
            self.pop()
        self._is_detached = True

    @staticmethod
    def synchronize():
        """Wait for all that was launched, and fill what asynchronous copies fill."""
        synchronize()

    @staticmethod
    def get_current():
        """The current Context, or None."""
        return _stack()[-1][0] if _stack() else None

    @staticmethod
    def get_device():
        """The current Device."""
        return Device(current_device().name)

    @staticmethod
    def get_api_version():
        """Of the interface."""
        return 3020

    @staticmethod
    def set_cache_config(config):
        """Without effect."""

    @staticmethod
    def enable_peer_access(other, flags=0):
        """Without effect: devices copy through the host."""


def synchronize():
    """Wait for all that was launched, and fill what asynchronous copies fill."""
    _devices.synchronize()
    for stream in list(_streams):
        stream.synchronize()


class Stream(_devices.Stream):
    """Work in order beside that of other streams; where the device has no queues it is done at once.

    Parameters
    ----------
    flags : int, optional
        Without effect.
    """

    def __init__(self, flags=0):
        super().__init__()
        self._pending, self._mark = [], True
        _streams.add(self)

    def statements(self):
        """A context whose statements go to the stream."""
        self._mark = None
        return super().statements()

    def fill_later(self, filled, memory):
        """Copy into an array of the host once the stream was waited for; both hold bytes."""
        self._pending.append((filled, memory))

    def _fill(self):
        pending, self._pending = self._pending, []
        for filled, memory in pending:
            filled[...] = memory

    def synchronize(self):
        """Wait for what the stream was given."""
        super().synchronize()
        self._mark = True
        self._fill()

    def is_done(self):
        """Whether all that it was given is done."""
        if self._queue is not None and self._mark is not True:
            self._mark = self._mark or self._queue.record()  # behind the last statement
            if not self._mark.done:
                return False
        self._fill()
        return True

    def wait_for_event(self, event):
        """Let later work of the stream wait for an event."""
        event.wait(self)

    @property
    def handle(self):
        """A number that differs from stream to stream."""
        return id(self)


class Event(_devices.Event):
    """A moment in the work of a device.

    Parameters
    ----------
    flags : int, optional
        Without effect.

    Examples
    --------
    >>> import unisono.cuda.driver as cuda
    >>> start, end = cuda.Event(), cuda.Event()
    >>> _ = start.record(), end.record()
    >>> end.synchronize().time_since(start) >= 0
    True
    """

    def __init__(self, flags=0):
        super().__init__()
        self._stream = None

    def record(self, stream=None):
        """Stand behind what a stream, or all of them, were given so far; gives itself back."""
        self._event = self._time = None
        super().record(stream)
        self._stream = stream
        if self._event is None and self._time is None:
            self._time = time.perf_counter_ns()
        return self

    def synchronize(self):
        """Wait until it has happened; gives itself back."""
        super().synchronize()
        if self._stream:
            self._stream._fill()
        return self

    def query(self):
        """Whether it has happened."""
        done = super().query()
        if done and self._stream:
            self._stream._fill()
        return done

    def time_since(self, event):
        """Milliseconds from another event to this one."""
        return _between(event, self)

    def time_till(self, event):
        """Milliseconds from this event to another one."""
        return _between(self, event)

    @property
    def handle(self):
        """A number that differs from event to event."""
        return id(self)


def _between(first, last):
    if (first._event is None) == (last._event is None):
        return first.elapsed_time(last)
    # One was recorded without a stream, by the host's clock, behind all that came before.
    moments = []
    for e in (first, last):
        if e._event is None and e._time is None:
            raise LogicError("Event: it was never recorded; got one of the two; call record()")
        moments.append(e._time if e._event is None else e._event.profile.end)
    return (moments[1] - moments[0]) / 1e6


def default_device():
    """The Device of ``CUDA_DEVICE``, else the current one."""
    number = os.environ.get("CUDA_DEVICE")
    if number is None:
        return Device(current_device().name)
    return Device(int(number) if number.isdigit() else number)
