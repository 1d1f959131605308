"""Types of ``unisono.opencl.algorithm``, written by scripts/stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any

from . import CommandQueue, Context, Device, Event
from .array import Array as Array
from .elementwise import ScalarArg as ScalarArg
from .elementwise import VectorArg as VectorArg
from .scan import GenericScanKernel as GenericScanKernel

class BuiltList:
    def __init__(
        self,
        count: Any = ...,
        starts: Any = ...,
        lists: Any = ...,
        num_nonempty_lists: Any = ...,
        nonempty_indices: Any = ...,
        compressed_indices: Any = ...,
    ) -> None: ...

class KeyValueSorter:
    def __call__(
        self,
        queue: CommandQueue,
        keys: Any,
        values: Any,
        nkeys: Any,
        starts_dtype: Any,
        allocator: Callable[[int], Any] | None = ...,
        wait_for: Sequence[Event] | Event | None = ...,
    ) -> Any: ...
    def __init__(self, context: Context) -> None: ...

class ListOfListsBuilder:
    def __call__(
        self,
        queue: CommandQueue,
        n_objects: Any,
        *args: Any,
        allocator: Callable[[int], Any] | None = ...,
        omit_lists: Any = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        **kwargs: Any,
    ) -> Any: ...
    def __init__(
        self,
        context: Context,
        list_names_and_dtypes: Any,
        generate_template: Any,
        arg_decls: Any,
        count_sharing: Any = ...,
        devices: Sequence[Device] | None = ...,
        name_prefix: Any = ...,
        options: str | Sequence[str] | None = ...,
        preamble: str = ...,
        debug: bool = ...,
        complex_kernel: bool = ...,
        eliminate_empty_output_lists: bool = ...,
    ) -> None: ...
    def get_compress_kernel(self, index_dtype: Any) -> Any: ...
    def get_count_kernel(self, index_dtype: Any) -> Any: ...
    def get_scan_kernel(self, index_dtype: Any) -> Any: ...
    def get_write_kernel(self, index_dtype: Any) -> Any: ...

class RadixSort:
    def __call__(
        self,
        *args: Any,
        key_bits: Any = ...,
        queue: CommandQueue | None = ...,
        allocator: Callable[[int], Any] | None = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        **kwargs: Any,
    ) -> Any: ...
    def __init__(
        self,
        context: Context,
        arguments: str | Sequence[Any],
        key_expr: str,
        sort_arg_names: Any,
        bits_at_a_time: Any = ...,
        index_dtype: Any = ...,
        key_dtype: Any = ...,
        scan_kernel: Any = ...,
        options: str | Sequence[str] | None = ...,
    ) -> None: ...

def copy_if(
    ary: Any,
    predicate: str,
    extra_args: Sequence[Any] | None = ...,
    preamble: str = ...,
    queue: CommandQueue | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Any: ...
def declarations(arguments: str | Sequence[Any]) -> Any: ...
def dtype_to_ctype(dtype: Any) -> Any: ...
def parse_arg_list(arguments: str | Sequence[Any], with_offset: bool = ...) -> Any: ...
def partition(
    ary: Any,
    predicate: str,
    extra_args: Sequence[Any] | None = ...,
    preamble: str = ...,
    queue: CommandQueue | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Any: ...
def remove_if(
    ary: Any,
    predicate: str,
    extra_args: Sequence[Any] | None = ...,
    preamble: str = ...,
    queue: CommandQueue | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Any: ...
def unique(
    ary: Any,
    is_equal_expr: str = ...,
    extra_args: Sequence[Any] | None = ...,
    preamble: str = ...,
    queue: CommandQueue | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Any: ...
