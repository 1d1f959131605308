"""``cupy.cuda.runtime``: calls of CUDA's runtime that programs make to ask for devices and to wait."""

from __future__ import annotations

from ..._engine import DeviceError as CUDARuntimeError
from ...cuda import devices as _devices
from .device import Device

__all__ = [
    "CUDARuntimeError",
    "deviceCanAccessPeer",
    "deviceSynchronize",
    "driverGetVersion",
    "getDevice",
    "getDeviceCount",
    "getDeviceProperties",
    "get_local_runtime_version",
    "is_hip",
    "memGetInfo",
    "runtimeGetVersion",
    "setDevice",
]

cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat = range(3)
cudaResourceTypeArray, cudaResourceTypeMipmappedArray = 0, 1
cudaResourceTypeLinear, cudaResourceTypePitch2D = 2, 3
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)
cudaFilterModePoint, cudaFilterModeLinear = 0, 1
cudaReadModeElementType, cudaReadModeNormalizedFloat = 0, 1
is_hip = False  # whether devices are AMD's, through HIP


def getDeviceCount():
    """How many CUDA devices there are; 1 where others stand in for them."""
    return max(1, len(_devices._cuda_devices()))


def getDevice():
    """Number of the current device."""
    return _devices._Current(_devices.current_device()).id


def setDevice(device):
    """Make a device the current one."""
    Device(device).use()


def deviceSynchronize():
    """Wait for all that was launched."""
    _devices.synchronize()


def getDeviceProperties(device):
    """What the driver tells, with the name as bytes."""
    found = Device(device)._device
    return {**found.properties, "name": (found.description or found.name).encode()}


def deviceCanAccessPeer(device, peer):
    """0: arrays of other devices are copied."""
    return 0


def memGetInfo():
    """Bytes that are free on the current device, and all."""
    return Device().mem_info


def driverGetVersion():
    """Version of the CUDA driver; 0 where there is none."""
    found = _devices._cuda_devices()
    return int(found[0].properties.get("driver_version", 0)) if found else 0


runtimeGetVersion = driverGetVersion


def get_local_runtime_version():
    """As `runtimeGetVersion`."""
    return runtimeGetVersion()
