"""``cupy.cuda``: devices, streams and events with CuPy's names."""

from __future__ import annotations

from .. import _engine
from ..cuda import devices as _devices
from ..cuda.devices import is_available

__all__ = [
    "Device",
    "Event",
    "Stream",
    "get_current_stream",
    "get_elapsed_time",
    "is_available",
    "runtime",
]


class Device:
    """A device as context manager, and `use` to choose it.

    Parameters
    ----------
    device : int, str or unisono.Device, optional
        As of `unisono.cuda.select_device`; by default the current one.
    """

    def __init__(self, device=None):
        if device is None:
            self._device = _devices.current_device()
        elif isinstance(device, int):
            found = _devices._cuda_devices() or [_devices.current_device()]
            if not 0 <= device < len(found):
                raise _devices.CudaError(
                    f"Device: there is no device {device}; got {len(found)} devices; expected a number below that"
                )
            self._device = found[device]
        else:
            self._device = _engine._find_device(str(device))
        self._before = []

    @property
    def id(self):
        """Its number among those of its kind."""
        return _devices._Current(self._device).id

    @property
    def compute_capability(self):
        """Of a CUDA device, as text; "00" of others."""
        return "{}{}".format(*_devices._Current(self._device).compute_capability)

    @property
    def mem_info(self):
        """Bytes that are free, and all."""
        total = self._device.memory_bytes
        return total - _devices._in_use(self._device), total

    @property
    def attributes(self):
        """What the driver tells."""
        return self._device.properties

    def use(self):
        """Make it the current device of this thread."""
        _devices._mine.device = self._device

    def synchronize(self):
        """Wait for all that was launched."""
        _devices.synchronize()

    def __enter__(self):
        self._before.append(getattr(_devices._mine, "device", None))
        self.use()
        return self

    def __exit__(self, *error):
        _devices._mine.device = self._before.pop()

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __int__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


class Stream(_devices.Stream):
    """Work in order beside that of other streams; ``with stream:`` sends the statements of a block there.

    Parameters
    ----------
    null, non_blocking, ptds : bool, optional
        CuPy's; a null stream is the device's own.
    """

    def __init__(self, null=False, non_blocking=False, ptds=False):
        super().__init__()
        if null:
            self._queue = None
        self._blocks = []

    @property
    def done(self):
        """Whether all that it was given is done."""
        return self._queue is None or self._queue.record().done

    def use(self):
        """Streams are used in blocks."""
        raise RuntimeError(
            "Stream.use: a stream is used in a block; got a call; write `with stream:`"
        )

    def __enter__(self):
        block = self.statements()
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *error):
        self._blocks.pop().__exit__(*error)


Stream.null = Stream.__new__(Stream)
Stream.null._device, Stream.null._queue, Stream.null._blocks = None, None, []


def get_current_stream():
    """The null stream: what other statements go to."""
    return Stream.null


class Event(_devices.Event):
    """A moment in the work of a device.

    Parameters
    ----------
    block, disable_timing, interprocess : bool, optional
        CuPy's, without effect.
    """

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        super().__init__()

    @property
    def done(self):
        """Whether it has happened."""
        return self.query()


def get_elapsed_time(start_event, end_event):
    """Milliseconds between two events."""
    return start_event.elapsed_time(end_event)


class runtime:
    """Calls of CUDA's runtime."""

    @staticmethod
    def getDeviceCount():
        """How many CUDA devices there are; 1 where others stand in for them."""
        return max(1, len(_devices._cuda_devices()))

    @staticmethod
    def getDevice():
        """Number of the current device."""
        return _devices._Current(_devices.current_device()).id

    @staticmethod
    def setDevice(device):
        """Make a device the current one."""
        Device(device).use()

    @staticmethod
    def deviceSynchronize():
        """Wait for all that was launched."""
        _devices.synchronize()

    @staticmethod
    def getDeviceProperties(device):
        """What the driver tells, with the name as bytes."""
        found = Device(device)._device
        return {**found.properties, "name": (found.description or found.name).encode()}
