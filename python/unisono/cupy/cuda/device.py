"""``cupy.cuda.Device``: a device as a context, chosen by its number or name."""

from __future__ import annotations

from ... import _engine
from ...cuda import devices as _devices

__all__ = ["Device", "get_compute_capability", "get_cublas_handle", "get_device_id"]


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


def get_device_id():
    """Number of the current device."""
    return Device().id


def get_compute_capability():
    """Of the current device, as text; "00" where it is no CUDA device."""
    return Device().compute_capability


def get_cublas_handle():
    """0: products are the engine's own."""
    return 0
