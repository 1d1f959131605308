"""``cupy.cuda.runtime``: calls of CUDA's runtime that programs make to ask for devices and to wait."""

from __future__ import annotations

from ..._engine import DeviceError as CUDARuntimeError
from ...cuda import devices as _devices
from .device import ATTRIBUTES, Device

__all__ = [
    "CUDARuntimeError",
    "deviceCanAccessPeer",
    "deviceGetAttribute",
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
for _name, (_number, _) in ATTRIBUTES.items():
    globals()[f"cudaDevAttr{_name}"] = _number
is_hip = False  # whether devices are AMD's, through HIP

# Fields of CUDA's structure of properties and the attributes that say the same.
_properties = {
    "major": "ComputeCapabilityMajor", "minor": "ComputeCapabilityMinor", "warpSize": "WarpSize",
    "multiProcessorCount": "MultiProcessorCount", "maxThreadsPerBlock": "MaxThreadsPerBlock",
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock", "totalConstMem": "TotalConstantMemory",
    "regsPerBlock": "MaxRegistersPerBlock", "clockRate": "ClockRate", "memoryClockRate": "MemoryClockRate",
    "memoryBusWidth": "GlobalMemoryBusWidth", "l2CacheSize": "L2CacheSize",
    "maxThreadsPerMultiProcessor": "MaxThreadsPerMultiProcessor", "asyncEngineCount": "AsyncEngineCount",
    "concurrentKernels": "ConcurrentKernels", "integrated": "Integrated", "canMapHostMemory": "CanMapHostMemory",
    "unifiedAddressing": "UnifiedAddressing", "managedMemory": "ManagedMemory", "pciBusID": "PciBusId",
    "pciDeviceID": "PciDeviceId", "computeMode": "ComputeMode", "ECCEnabled": "EccEnabled",
}  # fmt: skip
_by_axis = {"maxThreadsDim": "MaxBlockDim", "maxGridSize": "MaxGridDim"}


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
    """What the driver tells, and what of CUDA's structure is known, with the name as bytes.

    Parameters
    ----------
    device : int or str

    Returns
    -------
    dict

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.cuda.runtime.getDeviceProperties(0)["warpSize"]
    32
    """
    device = Device(device)
    found, known = device._device, device.attributes
    fields = {field: known[name] for field, name in _properties.items() if name in known}
    for field, names in _by_axis.items():
        fields[field] = tuple(known[f"{names}{axis}"] for axis in "XYZ")
    return {
        **found.properties,
        **fields,
        "totalGlobalMem": found.memory_bytes,
        "name": (found.description or found.name).encode(),
    }


def deviceGetAttribute(attrib, device_id):
    """One of a device's attributes.

    Parameters
    ----------
    attrib : int
        One of this module's numbers ``cudaDevAttr...``.
    device_id : int or str

    Returns
    -------
    int

    Raises
    ------
    CUDARuntimeError
        If there is no such attribute, or it is not known of this device.

    Examples
    --------
    >>> from unisono.cupy.cuda import runtime
    >>> runtime.deviceGetAttribute(runtime.cudaDevAttrWarpSize, 0)
    32
    """
    known = Device(device_id).attributes
    for name, (number, _) in ATTRIBUTES.items():
        if number == attrib and name in known:
            return known[name]
    raise CUDARuntimeError(
        f"deviceGetAttribute: attribute {attrib} is not known of device {device_id}; got those of "
        f"{', '.join(known)}; expected a number such as runtime.cudaDevAttrWarpSize"
    )


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
