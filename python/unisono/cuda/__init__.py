"""Kernels and memory with the names of Numba's CUDA, on every device.

``from unisono import cuda`` runs programs that were written for ``from numba import cuda``. A kernel runs on the device of
its arrays. Arrays of the host, and those that `to_device` and its like make, go to the current device: that of
`select_device`, else of ``with unisono.device(...)`` or ``UNISONO_DEVICE``, else the first CUDA device, else the CPU.

The words of kernels (`grid`, `threadIdx`, `shared`...) also compile in `unisono.kernel`.
"""

import re as _re

from .. import cbrt
from . import atomic, cg
from ._arguments import In, InOut, Out
from ._reduce import Reduce, reduce
from .devices import (
    CudaError,
    Event,
    Stream,
    close,
    current_context,
    default_stream,
    defer_cleanup,
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
    is_float16_supported,
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
from .interop import (
    as_cuda_array,
    from_cuda_array_interface,
    legacy_default_stream,
    mapped,
    mapped_array_like,
    per_thread_default_stream,
    profile_start,
    profile_stop,
    profiling,
)
from .launches import Kernel, declare_device, jit
from .warps import (
    activemask,
    all_sync,
    any_sync,
    ballot_sync,
    brev,
    clz,
    eq_sync,
    ffs,
    fma,
    laneid,
    lanemask_lt,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    warpsize,
)
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
    "In",
    "InOut",
    "Kernel",
    "Out",
    "Reduce",
    "Stream",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "cg",
    "close",
    "clz",
    "const",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "is_float16_supported",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "list_devices",
    "local",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "profile_start",
    "profile_stop",
    "profiling",
    "reduce",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "warpsize",
]

_absent = dict.fromkeys(
    "shfl_sync_intrinsic vote_sync_intrinsic match_sync_intrinsic".split(),
    "use shfl_sync and its like, which take the lane alone",
)


_C_NAMES = {
    "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float32": "float", "float64": "double",
}  # fmt: skip
_VECTOR = _re.compile(
    r"(?:u?int(?:8|16|32|64)|float(?:32|64))x[1234]|(?:u?(?:char|short|int|long|longlong)|float|double)[1234]"
)


def __getattr__(name):
    if name in ("fp16", "random"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    vector = _VECTOR.fullmatch(name)
    if vector is not None:
        from .. import vectors

        names = {f"{np}x{n}": f"{c}{n}" for np, c in _C_NAMES.items() for n in (1, 2, 3, 4)}
        return getattr(vectors, names.get(name, name))
    way_out = _absent.get(name, "dir(unisono.cuda) lists what there is")
    raise AttributeError(f"module 'unisono.cuda' has no attribute '{name}'; {way_out}")
