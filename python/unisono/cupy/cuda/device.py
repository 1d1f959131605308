"""``cupy.cuda.Device``: a device as a context, chosen by its number or name."""

from __future__ import annotations

import contextlib

from ... import _engine
from ...cuda import _allocations, _contexts
from ...cuda import devices as _devices

__all__ = ["Device", "get_compute_capability", "get_cublas_handle", "get_device_id"]

# The runtime's numbers of attributes, behind their names without cudaDevAttr, with the driver's names.
ATTRIBUTES = {
    "MaxThreadsPerBlock": (1, "MAX_THREADS_PER_BLOCK"), "MaxBlockDimX": (2, "MAX_BLOCK_DIM_X"),
    "MaxBlockDimY": (3, "MAX_BLOCK_DIM_Y"), "MaxBlockDimZ": (4, "MAX_BLOCK_DIM_Z"),
    "MaxGridDimX": (5, "MAX_GRID_DIM_X"), "MaxGridDimY": (6, "MAX_GRID_DIM_Y"), "MaxGridDimZ": (7, "MAX_GRID_DIM_Z"),
    "MaxSharedMemoryPerBlock": (8, "MAX_SHARED_MEMORY_PER_BLOCK"), "TotalConstantMemory": (9, "TOTAL_CONSTANT_MEMORY"),
    "WarpSize": (10, "WARP_SIZE"), "MaxRegistersPerBlock": (12, "MAX_REGISTERS_PER_BLOCK"),
    "ClockRate": (13, "CLOCK_RATE"), "GpuOverlap": (15, "GPU_OVERLAP"),
    "MultiProcessorCount": (16, "MULTIPROCESSOR_COUNT"), "KernelExecTimeout": (17, "KERNEL_EXEC_TIMEOUT"),
    "Integrated": (18, "INTEGRATED"), "CanMapHostMemory": (19, "CAN_MAP_HOST_MEMORY"),
    "ComputeMode": (20, "COMPUTE_MODE"), "ConcurrentKernels": (31, "CONCURRENT_KERNELS"),
    "EccEnabled": (32, "ECC_ENABLED"), "PciBusId": (33, "PCI_BUS_ID"), "PciDeviceId": (34, "PCI_DEVICE_ID"),
    "MemoryClockRate": (36, "MEMORY_CLOCK_RATE"), "GlobalMemoryBusWidth": (37, "GLOBAL_MEMORY_BUS_WIDTH"),
    "L2CacheSize": (38, "L2_CACHE_SIZE"), "MaxThreadsPerMultiProcessor": (39, "MAX_THREADS_PER_MULTIPROCESSOR"),
    "AsyncEngineCount": (40, "ASYNC_ENGINE_COUNT"), "UnifiedAddressing": (41, "UNIFIED_ADDRESSING"),
    "ComputeCapabilityMajor": (75, "COMPUTE_CAPABILITY_MAJOR"),
    "ComputeCapabilityMinor": (76, "COMPUTE_CAPABILITY_MINOR"), "ManagedMemory": (83, "MANAGED_MEMORY"),
}  # fmt: skip


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
        """The runtime's attributes that are known of it, by their names without ``cudaDevAttr``."""
        context = _contexts.Device(self._device.name)
        known = {}
        for name, (_, of_driver) in ATTRIBUTES.items():
            with contextlib.suppress(_allocations.LogicError):
                known[name] = context.get_attribute(of_driver)
        return known

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
        return self._device == (other._device if isinstance(other, Device) else other)

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
