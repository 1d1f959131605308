"""``dpctl.enum_types``: what attributes of devices and events say."""

from __future__ import annotations

import enum

__all__ = [
    "backend_type", "device_type", "event_status_type", "fp_config", "global_mem_cache_type", "local_mem_type",
    "memory_order", "memory_scope", "partition_property",
]  # fmt: skip


class backend_type(enum.Enum):
    """What stands between a program and its device; ``host`` is the engine itself, on the CPU."""

    all = 0
    cuda = 1
    hip = 2
    level_zero = 3
    opencl = 4
    host = 5
    unknown = 6


class device_type(enum.Enum):
    """Kinds of devices."""

    all = 0
    accelerator = 1
    automatic = 2
    cpu = 3
    custom = 4
    gpu = 5
    unknown = 6


class event_status_type(enum.Enum):
    """Whether something has happened."""

    unknown_status = 0
    submitted = 1
    running = 2
    complete = 3


class global_mem_cache_type(enum.Enum):
    """Kinds of caches before a device's memory."""

    indeterminate = 1
    none = 2
    read_only = 3
    read_write = 4


class local_mem_type(enum.Enum):
    """Where local memory of a work-group lies."""

    none = 1
    local = 2
    global_mem = 3


class partition_property(enum.Enum):
    """Ways in which a device is divided."""

    no_partition = 1
    partition_equally = 2
    partition_by_counts = 3
    partition_by_affinity_domain = 4


class fp_config(enum.Enum):
    """What a device's floats do, in the order of OpenCL's bits."""

    denorm = 1
    inf_nan = 2
    round_to_nearest = 3
    round_to_zero = 4
    round_to_inf = 5
    fma = 6
    soft_float = 7
    correctly_rounded_divide_sqrt = 8


class memory_order(enum.Enum):
    """Orders of atomic operations and fences."""

    relaxed = 1
    acquire = 2
    release = 3
    acq_rel = 4
    seq_cst = 5


class memory_scope(enum.Enum):
    """Among whom an order holds."""

    work_item = 1
    sub_group = 2
    work_group = 3
    device = 4
    system = 5
