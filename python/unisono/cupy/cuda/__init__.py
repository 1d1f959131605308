"""``cupy.cuda``: devices, streams, events and memory with CuPy's names."""

from __future__ import annotations

from ...cuda.devices import is_available
from ...cupyx.profiler import profile
from . import compiler, device, driver, memory, runtime, stream, texture
from .device import Device, get_device_id
from .memory import (
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPool,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from .runtime import get_local_runtime_version
from .stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

__all__ = [
    "Device",
    "Event",
    "ExternalStream",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "device",
    "driver",
    "get_allocator",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "get_local_runtime_version",
    "is_available",
    "malloc_managed",
    "memory",
    "profile",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "texture",
    "using_allocator",
]
