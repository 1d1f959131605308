"""Types of ``unisono.opencl.bitonic_sort``, written by scripts/stubs.py."""

from collections.abc import Sequence
from typing import Any

from . import CommandQueue, Context, Event

class BitonicSort:
    def __call__(
        self,
        arr: Any,
        idx: Any = ...,
        queue: CommandQueue | None = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        axis: int = ...,
    ) -> Any: ...
    def __init__(self, context: Context) -> None: ...

def enqueue_marker(
    queue: CommandQueue, wait_for: Sequence[Event] | Event | None = ...
) -> Event: ...
def on_queue(queue: CommandQueue, function: Any, *args: Any, **options: Any) -> Any: ...
