"""``pycuda.driver``: memory, copies, kernels, streams and events with PyCUDA's names, on every device.

``import unisono.cuda.driver as cuda`` runs programs that were written for ``import pycuda.driver as cuda``. Blocks, arrays
and kernels are on the current device of `unisono.cuda`: that of `make_context`, else of `unisono.cuda.select_device`,
``with unisono.device(...)`` or ``UNISONO_DEVICE``, else the first CUDA device, else the CPU.
"""

from __future__ import annotations

from builtins import MemoryError  # noqa: F401

from .._engine import CompileError
from .._engine import DeviceError as Error
from . import _allocations, _contexts, _textures
from ._allocations import *  # noqa: F403
from ._arguments import ArgumentHandler, In, InOut, Out
from ._contexts import *  # noqa: F403
from ._functions import (
    Function,
    Module,
    SourceModule,
    aligned_empty,
    managed_empty,
    managed_empty_like,
    managed_zeros,
    managed_zeros_like,
    pagelocked_empty,
    pagelocked_empty_like,
    pagelocked_zeros,
    pagelocked_zeros_like,
    register_host_memory,
)
from ._textures import *  # noqa: F403

__all__ = [
    *_allocations.__all__, *_contexts.__all__, *_textures.__all__, "ArgumentHandler", "CompileError", "Error", "Function", "In", "InOut",
    "LaunchError", "Module", "Out", "RuntimeError", "aligned_empty", "ctx_flags", "event_flags", "func_cache",
    "get_driver_version", "get_version", "host_alloc_flags", "managed_empty", "managed_empty_like", "managed_zeros",
    "managed_zeros_like", "mem_attach_flags", "module_from_buffer", "pagelocked_empty", "pagelocked_empty_like",
    "pagelocked_zeros", "pagelocked_zeros_like", "register_host_memory", "start_profiler", "stop_profiler",
]  # fmt: skip

RuntimeError = LaunchError = Error


class _Flags:
    """Flags that are without effect; their values are CUDA's."""


def _flags(name, **values):
    return type(name, (_Flags,), {**values, "__doc__": _Flags.__doc__})


ctx_flags = _flags(
    "ctx_flags", SCHED_AUTO=0, SCHED_SPIN=1, SCHED_YIELD=2, SCHED_BLOCKING_SYNC=4, MAP_HOST=8
)
event_flags = _flags("event_flags", DEFAULT=0, BLOCKING_SYNC=1, DISABLE_TIMING=2)
host_alloc_flags = _flags("host_alloc_flags", PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
mem_attach_flags = _flags("mem_attach_flags", GLOBAL=1, HOST=2, SINGLE=4)
func_cache = _flags("func_cache", PREFER_NONE=0, PREFER_SHARED=1, PREFER_L1=2, PREFER_EQUAL=3)


def get_version():
    """Version of CUDA whose names these are."""
    return (12, 0, 0)


def get_driver_version():
    """Version of the driver's interface, as one number."""
    return 12000


def module_from_buffer(buffer, options=(), message_handler=None):
    """A module of text; compiled code is not loaded.

    Raises
    ------
    LogicError
        For compiled code.
    """
    text = buffer if isinstance(buffer, str) else bytes(buffer)
    if isinstance(text, bytes):
        raise LogicError(  # noqa: F405
            f"module_from_buffer: compiled code is not loaded; got {len(text)} bytes; give the text to SourceModule"
        )
    return SourceModule(text)


def start_profiler():
    """Nothing: see `unisono.profile`."""


stop_profiler = start_profiler

_absent = dict.fromkeys(
    """
    ArrayDescriptor3D SurfaceReference make_multichannel_2d_array""".split(),
    "textures have one channel, and there are no surfaces; index an array of the device",
) | dict.fromkeys(
    "Graph GraphExec IPCMemoryHandle IPCEventHandle Linker module_from_file Memcpy3D memcpy_peer".split(),
    "docs/pycuda.md says what there is",
)


def __getattr__(name):
    way_out = _absent.get(name, "dir(unisono.cuda.driver) lists what there is")
    raise AttributeError(f"module 'unisono.cuda.driver' has no attribute '{name}'; {way_out}")
