"""Tasks for other ranks, with the names of ``mpi4py.futures``: executors as those of `concurrent.futures`.

Examples
--------
>>> from unisono.mpi.futures import MPIPoolExecutor
>>> with MPIPoolExecutor() as executor:
...     sorted(executor.map(abs, [-2, 1], unordered=True))
[1, 2]
"""

from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    TimeoutError,
    as_completed,
    wait,
)

from ._executor import MPICommExecutor, MPIPoolExecutor
from ._ranks import get_comm_workers

__all__ = [
    "ALL_COMPLETED",
    "BrokenExecutor",
    "CancelledError",
    "Executor",
    "FIRST_COMPLETED",
    "FIRST_EXCEPTION",
    "Future",
    "InvalidStateError",
    "MPICommExecutor",
    "MPIPoolExecutor",
    "TimeoutError",
    "as_completed",
    "get_comm_workers",
    "wait",
]
