"""Types of ``unisono.opencl.scan``, written by scripts/stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any

from . import CommandQueue, Context, Device, Event
from .array import Array as Array
from .elementwise import VectorArg as VectorArg

class ExclusiveScanKernel:
    def __call__(
        self,
        input_ary: Any,
        output_ary: Any = ...,
        allocator: Callable[[int], Any] | None = ...,
        queue: CommandQueue | None = ...,
    ) -> Any: ...
    def __init__(
        self,
        ctx: Context,
        dtype: Any,
        scan_expr: str,
        neutral: str | None = ...,
        name_prefix: Any = ...,
        options: str | Sequence[str] | None = ...,
        preamble: str = ...,
        devices: Sequence[Device] | None = ...,
    ) -> None: ...

class GenericDebugScanKernel(GenericScanKernel): ...

class GenericScanKernel:
    def __call__(
        self,
        *args: Any,
        allocator: Callable[[int], Any] | None = ...,
        queue: CommandQueue | None = ...,
        size: int | None = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        **kwargs: Any,
    ) -> Event: ...
    def __init__(
        self,
        ctx: Context,
        dtype: Any,
        arguments: str | Sequence[Any],
        input_expr: str,
        scan_expr: str,
        neutral: str,
        output_statement: str,
        is_segment_start_expr: Any = ...,
        input_fetch_exprs: Any = ...,
        index_dtype: Any = ...,
        name_prefix: Any = ...,
        options: str | Sequence[str] | None = ...,
        preamble: str = ...,
        devices: Sequence[Device] | None = ...,
    ) -> None: ...

class InclusiveScanKernel:
    def __call__(
        self,
        input_ary: Any,
        output_ary: Any = ...,
        allocator: Callable[[int], Any] | None = ...,
        queue: CommandQueue | None = ...,
    ) -> Any: ...
    def __init__(
        self,
        ctx: Context,
        dtype: Any,
        scan_expr: str,
        neutral: str | None = ...,
        name_prefix: Any = ...,
        options: str | Sequence[str] | None = ...,
        preamble: str = ...,
        devices: Sequence[Device] | None = ...,
    ) -> None: ...

class ScanPerformanceWarning(UserWarning): ...

def declarations(arguments: str | Sequence[Any]) -> Any: ...
def dtype_to_ctype(dtype: Any) -> Any: ...
def get_arg_offset_adjuster_code(arguments: str | Sequence[Any]) -> Any: ...
def get_cumsum_kernel(context: Context, input_dtype: Any, output_dtype: Any) -> Any: ...
def parse_arg_list(arguments: str | Sequence[Any], with_offset: bool = ...) -> Any: ...
def pass_arguments(arguments: str | Sequence[Any], values: Any) -> Any: ...
def preamble_of(arguments: str | Sequence[Any], dtypes: Any = ..., text: Any = ...) -> Any: ...
