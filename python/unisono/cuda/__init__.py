"""Kernels and memory with the names of Numba's CUDA, on every device.

``from unisono import cuda`` runs programs that were written for ``from numba import cuda``. A kernel runs on the device of
its arrays. Arrays of the host, and those that `to_device` and its like make, go to the current device: that of
`select_device`, else of ``with unisono.device(...)`` or ``UNISONO_DEVICE``, else the first CUDA device, else the CPU.

The words of kernels (`grid`, `threadIdx`, `shared`...) also compile in `unisono.kernel`.
"""

from .. import atomic
from .devices import (
    CudaError,
    Event,
    Stream,
    close,
    current_context,
    default_stream,
    detect,
    device_array,
    device_array_like,
    event,
    event_elapsed_time,
    external_stream,
    get_current_device,
    gpus,
    is_available,
    is_cuda_array,
    list_devices,
    managed_array,
    mapped_array,
    pinned,
    pinned_array,
    pinned_array_like,
    select_device,
    stream,
    synchronize,
    to_device,
)
from .launches import Kernel, declare_device, jit
from .words import (
    blockDim,
    blockIdx,
    const,
    grid,
    gridDim,
    gridsize,
    local,
    selp,
    shared,
    syncthreads,
    threadIdx,
)

__all__ = [
    "CudaError",
    "Event",
    "Kernel",
    "Stream",
    "atomic",
    "blockDim",
    "blockIdx",
    "close",
    "const",
    "current_context",
    "declare_device",
    "default_stream",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "jit",
    "list_devices",
    "local",
    "managed_array",
    "mapped_array",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "select_device",
    "selp",
    "shared",
    "stream",
    "synchronize",
    "syncthreads",
    "threadIdx",
    "to_device",
]

_warp = "no other place than a GPU has warps, so it would not run everywhere; use cuda.shared.array and cuda.syncthreads"
_absent = dict.fromkeys(
    """
    activemask all_sync any_sync ballot_sync eq_sync laneid lanemask_lt match_all_sync match_any_sync shfl_down_sync
    shfl_sync shfl_up_sync shfl_xor_sync syncwarp vote_sync_intrinsic warpsize""".split(),
    _warp,
) | dict.fromkeys(
    "threadfence threadfence_block threadfence_system".split(),
    "fences between threads are not there on all places; use cuda.atomic, or a kernel for each step",
)


def __getattr__(name):
    way_out = _absent.get(name, "dir(unisono.cuda) lists what there is")
    raise AttributeError(f"module 'unisono.cuda' has no attribute '{name}'; {way_out}")
