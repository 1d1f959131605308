"""Devices, queues, memory and arrays with dpctl's names, on every device.

``from unisono import dpctl`` runs programs that were written for ``import dpctl``. Sub-modules: `tensor`, `memory`,
`program`, `utils`, and `dpex`, the words of numba-dpex's kernels. ``docs/dpctl.md`` says what there is.
"""

from . import _devices, _queues, dpex, enum_types, memory, program, tensor, utils
from ._devices import *  # noqa: F403
from ._queues import *  # noqa: F403
from .enum_types import *  # noqa: F403

__all__ = [
    *_devices.__all__, *_queues.__all__, *enum_types.__all__, "dpex", "enum_types", "memory", "program", "tensor", "utils",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(
        f"module 'unisono.dpctl' has no attribute '{name}'; docs/dpctl.md says what there is"
    )
