"""Types of ``unisono.mpi.futures``, written by scripts/stubs.py."""

from builtins import TimeoutError as TimeoutError
from concurrent.futures import BrokenExecutor as BrokenExecutor
from concurrent.futures import CancelledError as CancelledError
from concurrent.futures import Executor as Executor
from concurrent.futures import Future as Future
from concurrent.futures import InvalidStateError as InvalidStateError
from concurrent.futures import as_completed as as_completed
from concurrent.futures import wait as wait
from typing import Any

ALL_COMPLETED: str
FIRST_COMPLETED: str
FIRST_EXCEPTION: str

class MPICommExecutor:
    def __enter__(self) -> Any: ...
    def __exit__(self, *error: Any) -> Any: ...
    def __init__(self, comm: Any = ..., root: Any = ..., **options: Any) -> None: ...

class MPIPoolExecutor:
    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Any: ...
    def __init__(
        self, max_workers: Any = ..., initializer: Any = ..., initargs: Any = ..., **options: Any
    ) -> None: ...
    def bootup(self, wait: bool = ...) -> Any: ...
    def map(
        self,
        fn: Any,
        *iterables: Any,
        timeout: Any = ...,
        chunksize: Any = ...,
        unordered: bool = ...,
    ) -> Any: ...
    @property
    def num_workers(self) -> Any: ...
    def shutdown(self, wait: bool = ..., *, cancel_futures: bool = ...) -> Any: ...
    def starmap(
        self,
        fn: Any,
        iterable: Any,
        timeout: Any = ...,
        chunksize: Any = ...,
        unordered: bool = ...,
    ) -> Any: ...
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any: ...

def get_comm_workers() -> Any: ...
