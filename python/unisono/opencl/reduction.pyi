"""Types of ``unisono.opencl.reduction``, written by scripts/stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any

from . import CommandQueue, Context, Event
from .array import Array as Array
from .elementwise import VectorArg as VectorArg

class ReductionKernel:
    def __call__(
        self,
        *args: Any,
        queue: CommandQueue | None = ...,
        out: Array | None = ...,
        range: Any = ...,
        slice: Any = ...,
        allocator: Callable[[int], Any] | None = ...,
        return_event: bool = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        out_offset: Any = ...,
        **kwargs: Any,
    ) -> Any: ...
    def __init__(
        self,
        ctx: Context,
        dtype_out: Any,
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = ...,
        arguments: str | Sequence[Any] | None = ...,
        name: str = ...,
        options: str | Sequence[str] | None = ...,
        preamble: str = ...,
    ) -> None: ...

def declarations(arguments: str | Sequence[Any]) -> Any: ...
def dtype_to_ctype(dtype: Any) -> Any: ...
def get_arg_offset_adjuster_code(arguments: str | Sequence[Any]) -> Any: ...
def get_minmax_neutral(what: Any, dtype: Any) -> Any: ...
def parse_arg_list(arguments: str | Sequence[Any], with_offset: bool = ...) -> Any: ...
def pass_arguments(arguments: str | Sequence[Any], values: Any) -> Any: ...
def preamble_of(arguments: str | Sequence[Any], dtypes: Any = ..., text: Any = ...) -> Any: ...
