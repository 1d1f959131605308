"""Types of ``unisono.opencl``, written by scripts/stubs.py."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from .._engine import DeviceError
from . import algorithm as algorithm
from . import array as array
from . import bitonic_sort as bitonic_sort
from . import clmath as clmath
from . import clrandom as clrandom
from . import elementwise as elementwise
from . import reduction as reduction
from . import scan as scan
from . import tools as tools

class Buffer(MemoryObject):
    @property
    def int_ptr(self) -> int: ...
    def __getitem__(self, index: Any) -> Buffer: ...
    def __init__(
        self, context: Context, flags: int, size: int = ..., hostbuf: Any = ...
    ) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def get_sub_region(self, origin: Any, size: int, flags: int = ...) -> Buffer: ...

class CommandQueue:
    @property
    def context(self) -> Context: ...
    @property
    def device(self) -> Device: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def properties(self) -> int: ...
    @property
    def properties_array(self) -> list[int]: ...
    @property
    def reference_count(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: Any) -> None: ...
    def __init__(
        self, context: Context, device: Device | None = ..., properties: Any = ...
    ) -> None: ...
    def finish(self) -> None: ...
    def flush(self) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    @property
    def is_own(self) -> Any: ...

class CommandQueueUsedAfterExit(UserWarning): ...
class CompilerWarning(UserWarning): ...

class Context:
    @property
    def devices(self) -> list[Device]: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def interop_user_sync(self) -> int: ...
    @property
    def num_devices(self) -> int: ...
    @property
    def properties(self) -> Any: ...
    @property
    def reference_count(self) -> int: ...
    def __init__(
        self,
        devices: Sequence[Device] | None = ...,
        properties: Any = ...,
        dev_type: Any = ...,
        cache_dir: Any = ...,
    ) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def set_default_device_command_queue(self, device: Device, queue: CommandQueue) -> Any: ...

DTYPE_TO_CHANNEL_TYPE: Any
DTYPE_TO_CHANNEL_TYPE_NORM: Any

class Device:
    @property
    def address_bits(self) -> int: ...
    @property
    def atomic_fence_capabilities(self) -> int: ...
    @property
    def atomic_memory_capabilities(self) -> int: ...
    @property
    def attribute_async_engine_count_nv(self) -> int: ...
    @property
    def available(self) -> bool: ...
    @property
    def available_async_queues_amd(self) -> int: ...
    @property
    def board_name_amd(self) -> str: ...
    @property
    def built_in_kernels(self) -> str: ...
    @property
    def built_in_kernels_with_version(self) -> list[NameVersion]: ...
    @property
    def compiler_available(self) -> bool: ...
    @property
    def compute_capability_major_nv(self) -> int: ...
    @property
    def compute_capability_minor_nv(self) -> int: ...
    @property
    def device_enqueue_capabilities(self) -> int: ...
    @property
    def double_fp_config(self) -> int: ...
    @property
    def driver_version(self) -> str: ...
    @property
    def endian_little(self) -> bool: ...
    @property
    def error_correction_support(self) -> bool: ...
    @property
    def execution_capabilities(self) -> int: ...
    @property
    def ext_mem_padding_in_bytes_qcom(self) -> int: ...
    @property
    def extensions(self) -> str: ...
    @property
    def extensions_with_version(self) -> list[NameVersion]: ...
    @property
    def generic_address_space_support(self) -> bool: ...
    @property
    def gfxip_major_amd(self) -> int: ...
    @property
    def gfxip_minor_amd(self) -> int: ...
    @property
    def global_free_memory_amd(self) -> list[int]: ...
    @property
    def global_mem_cache_size(self) -> int: ...
    @property
    def global_mem_cache_type(self) -> int: ...
    @property
    def global_mem_cacheline_size(self) -> int: ...
    @property
    def global_mem_channel_bank_width_amd(self) -> int: ...
    @property
    def global_mem_channel_banks_amd(self) -> int: ...
    @property
    def global_mem_channels_amd(self) -> int: ...
    @property
    def global_mem_size(self) -> int: ...
    @property
    def global_variable_preferred_total_size(self) -> int: ...
    @property
    def gpu_overlap_nv(self) -> bool: ...
    @property
    def half_fp_config(self) -> int: ...
    @property
    def host_unified_memory(self) -> bool: ...
    @property
    def il_version(self) -> str: ...
    @property
    def ils_with_version(self) -> list[NameVersion]: ...
    @property
    def image2d_max_height(self) -> int: ...
    @property
    def image2d_max_width(self) -> int: ...
    @property
    def image3d_max_depth(self) -> int: ...
    @property
    def image3d_max_height(self) -> int: ...
    @property
    def image3d_max_width(self) -> int: ...
    @property
    def image_max_array_size(self) -> int: ...
    @property
    def image_max_buffer_size(self) -> int: ...
    @property
    def image_support(self) -> bool: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def integrated_memory_nv(self) -> bool: ...
    @property
    def kernel_exec_timeout_nv(self) -> bool: ...
    @property
    def linker_available(self) -> bool: ...
    @property
    def local_mem_banks_amd(self) -> int: ...
    @property
    def local_mem_size(self) -> int: ...
    @property
    def local_mem_size_per_compute_unit_amd(self) -> int: ...
    @property
    def local_mem_type(self) -> int: ...
    @property
    def max_clock_frequency(self) -> int: ...
    @property
    def max_compute_units(self) -> int: ...
    @property
    def max_constant_args(self) -> int: ...
    @property
    def max_constant_buffer_size(self) -> int: ...
    @property
    def max_global_variable_size(self) -> int: ...
    @property
    def max_mem_alloc_size(self) -> int: ...
    @property
    def max_num_sub_groups(self) -> int: ...
    @property
    def max_on_device_events(self) -> int: ...
    @property
    def max_on_device_queues(self) -> int: ...
    @property
    def max_parameter_size(self) -> int: ...
    @property
    def max_pipe_args(self) -> int: ...
    @property
    def max_read_image_args(self) -> int: ...
    @property
    def max_read_write_image_args(self) -> int: ...
    @property
    def max_samplers(self) -> int: ...
    @property
    def max_work_group_size(self) -> int: ...
    @property
    def max_work_group_size_amd(self) -> int: ...
    @property
    def max_work_item_dimensions(self) -> int: ...
    @property
    def max_work_item_sizes(self) -> list[int]: ...
    @property
    def max_write_image_args(self) -> int: ...
    @property
    def me_version_intel(self) -> int: ...
    @property
    def mem_base_addr_align(self) -> int: ...
    @property
    def min_data_type_align_size(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def native_vector_width_char(self) -> int: ...
    @property
    def native_vector_width_double(self) -> int: ...
    @property
    def native_vector_width_float(self) -> int: ...
    @property
    def native_vector_width_half(self) -> int: ...
    @property
    def native_vector_width_int(self) -> int: ...
    @property
    def native_vector_width_long(self) -> int: ...
    @property
    def native_vector_width_short(self) -> int: ...
    @property
    def non_uniform_work_group_support(self) -> bool: ...
    @property
    def num_simultaneous_interops_intel(self) -> int: ...
    @property
    def numeric_version(self) -> int: ...
    @property
    def opencl_c_all_versions(self) -> list[NameVersion]: ...
    @property
    def opencl_c_features(self) -> list[NameVersion]: ...
    @property
    def opencl_c_version(self) -> str: ...
    @property
    def page_size_qcom(self) -> int: ...
    @property
    def parent_device(self) -> Device | None: ...
    @property
    def partition_affinity_domain(self) -> int: ...
    @property
    def partition_max_sub_devices(self) -> int: ...
    @property
    def partition_properties(self) -> list[int]: ...
    @property
    def partition_type(self) -> list[int]: ...
    @property
    def pci_bus_id_nv(self) -> int: ...
    @property
    def pci_domain_id_nv(self) -> int: ...
    @property
    def pci_slot_id_nv(self) -> int: ...
    @property
    def pcie_id_amd(self) -> int: ...
    @property
    def pipe_max_active_reservations(self) -> int: ...
    @property
    def pipe_max_packet_size(self) -> int: ...
    @property
    def pipe_support(self) -> bool: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def preferred_constant_buffer_size_amd(self) -> int: ...
    @property
    def preferred_global_atomic_alignment(self) -> int: ...
    @property
    def preferred_interop_user_sync(self) -> bool: ...
    @property
    def preferred_local_atomic_alignment(self) -> int: ...
    @property
    def preferred_platform_atomic_alignment(self) -> int: ...
    @property
    def preferred_vector_width_char(self) -> int: ...
    @property
    def preferred_vector_width_double(self) -> int: ...
    @property
    def preferred_vector_width_float(self) -> int: ...
    @property
    def preferred_vector_width_half(self) -> int: ...
    @property
    def preferred_vector_width_int(self) -> int: ...
    @property
    def preferred_vector_width_long(self) -> int: ...
    @property
    def preferred_vector_width_short(self) -> int: ...
    @property
    def preferred_work_group_size_amd(self) -> int: ...
    @property
    def preferred_work_group_size_multiple(self) -> int: ...
    @property
    def printf_buffer_size(self) -> int: ...
    @property
    def profile(self) -> str: ...
    @property
    def profiling_timer_offset_amd(self) -> int: ...
    @property
    def profiling_timer_resolution(self) -> int: ...
    @property
    def queue_on_device_max_size(self) -> int: ...
    @property
    def queue_on_device_preferred_size(self) -> int: ...
    @property
    def queue_on_device_properties(self) -> int: ...
    @property
    def queue_on_host_properties(self) -> int: ...
    @property
    def queue_properties(self) -> int: ...
    @property
    def reference_count(self) -> int: ...
    @property
    def registers_per_block_nv(self) -> int: ...
    @property
    def simd_instruction_width_amd(self) -> int: ...
    @property
    def simd_per_compute_unit_amd(self) -> int: ...
    @property
    def simd_width_amd(self) -> int: ...
    @property
    def simultaneous_interops_intel(self) -> int: ...
    @property
    def single_fp_config(self) -> int: ...
    @property
    def spir_versions(self) -> str: ...
    @property
    def sub_group_independent_forward_progress(self) -> bool: ...
    @property
    def svm_capabilities(self) -> int: ...
    @property
    def thread_trace_supported_amd(self) -> bool: ...
    @property
    def topology_amd(self) -> int: ...
    @property
    def type(self) -> int: ...
    @property
    def vendor(self) -> str: ...
    @property
    def vendor_id(self) -> int: ...
    @property
    def version(self) -> str: ...
    @property
    def warp_size_nv(self) -> int: ...
    @property
    def wavefront_width_amd(self) -> int: ...
    @property
    def work_group_collective_functions_support(self) -> bool: ...
    def create_sub_devices(self, properties: Any) -> list[Device]: ...
    def device_and_host_timer(self) -> Any: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    @property
    def hashable_model_and_version_identifier(self) -> Any: ...
    def host_timer(self) -> Any: ...
    @property
    def persistent_unique_id(self) -> Any: ...

class DeviceTopologyAmd:
    def __init__(self, bus: Any = ..., device: Device = ..., function: Any = ...) -> None: ...
    @property
    def bus(self) -> Any: ...
    @property
    def device(self) -> Any: ...
    @property
    def function(self) -> Any: ...
    @property
    def type(self) -> Any: ...

class Error(DeviceError):
    @property
    def code(self) -> int: ...
    @property
    def routine(self) -> str: ...
    @property
    def what(self) -> str: ...
    def __init__(self, what: Any, code: Any = ..., routine: Any = ...) -> None: ...
    def is_out_of_memory(self) -> bool: ...

class Event:
    @property
    def command_execution_status(self) -> int: ...
    @property
    def command_queue(self) -> CommandQueue: ...
    @property
    def command_type(self) -> int: ...
    @property
    def context(self) -> Context: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def profile(self) -> Any: ...
    @property
    def reference_count(self) -> int: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def get_profiling_info(self, param: int) -> int: ...
    def set_callback(
        self, command_exec_callback_type: int, pfn_event_notify: Callable[[int], object]
    ) -> None: ...
    def wait(self) -> None: ...

class Image(MemoryObject):
    @property
    def int_ptr(self) -> int: ...
    def __init__(
        self,
        context: Context,
        flags: int,
        format: Any,
        shape: int | Sequence[int] | None = ...,
        pitches: Any = ...,
        hostbuf: Any = ...,
        is_array: bool = ...,
        buffer: Any = ...,
        *,
        desc: Any = ...,
    ) -> None: ...
    @property
    def array_size(self) -> Any: ...
    @property
    def buffer(self) -> Any: ...
    @property
    def depth(self) -> Any: ...
    @property
    def element_size(self) -> Any: ...
    @property
    def format(self) -> Any: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_image_info(self, param: int) -> Any: ...
    def get_info(self, param: int) -> Any: ...
    @property
    def height(self) -> Any: ...
    @property
    def image(self) -> Any: ...
    @property
    def num_mip_levels(self) -> Any: ...
    @property
    def num_samples(self) -> Any: ...
    @property
    def row_pitch(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
    @property
    def slice_pitch(self) -> Any: ...
    @property
    def width(self) -> Any: ...

class ImageDescriptor:
    def __init__(
        self,
        image_type: int = ...,
        shape: int | Sequence[int] = ...,
        array_size: Any = ...,
        pitches: Any = ...,
        num_mip_levels: Any = ...,
        num_samples: Any = ...,
        buffer: Any = ...,
    ) -> None: ...
    @property
    def array_size(self) -> Any: ...
    @property
    def buffer(self) -> Any: ...
    @property
    def image_type(self) -> Any: ...
    @property
    def num_mip_levels(self) -> Any: ...
    @property
    def num_samples(self) -> Any: ...
    @property
    def pitches(self) -> Any: ...
    @property
    def shape(self) -> Any: ...

class ImageFormat:
    def __init__(self, channel_order: Any, channel_type: Any) -> None: ...
    @property
    def channel_count(self) -> Any: ...
    @property
    def channel_data_type(self) -> Any: ...
    @property
    def channel_order(self) -> Any: ...
    @property
    def dtype_size(self) -> Any: ...
    @property
    def itemsize(self) -> Any: ...

class Kernel:
    @property
    def attributes(self) -> str: ...
    @property
    def context(self) -> Context: ...
    @property
    def function_name(self) -> str: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def num_args(self) -> int: ...
    @property
    def program(self) -> Program: ...
    @property
    def reference_count(self) -> int: ...
    def __call__(
        self,
        queue: CommandQueue,
        global_size: int | Sequence[int],
        local_size: int | Sequence[int] | None,
        *args: Any,
        global_offset: int | Sequence[int] | None = ...,
        g_times_l: bool = ...,
        allow_empty_ndrange: bool = ...,
        wait_for: Sequence[Event] | Event | None = ...,
    ) -> Event: ...
    def __init__(self, program: Program, name: str) -> None: ...
    def capture_call(
        self,
        output_file: Any,
        queue: CommandQueue,
        global_size: int | Sequence[int],
        local_size: int | Sequence[int] | None,
        *args: Any,
        **options: Any,
    ) -> None: ...
    def clone(self) -> Kernel: ...
    def context_address(self) -> int: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_arg_info(self, arg_index: int, param: int) -> Any: ...
    def get_info(self, param: int) -> Any: ...
    def get_sub_group_info(self, device: Device, param: int, input_value: Any = ...) -> Any: ...
    def get_work_group_info(self, param: int, device: Device) -> Any: ...
    def set_arg(self, index: int, arg: Any) -> None: ...
    def set_arg_types(self, arg_types: Sequence[Any]) -> None: ...
    def set_args(self, *args: Any) -> None: ...
    def set_scalar_arg_dtypes(self, scalar_arg_dtypes: Sequence[Any]) -> None: ...

class LocalMemory:
    @property
    def size(self) -> int: ...
    def __init__(self, size: int) -> None: ...

class LogicError(Error): ...
class MemoryError(Error, builtins.MemoryError): ...

class MemoryMap:
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: Any) -> None: ...
    def __init__(self, queue: CommandQueue, memory: Any, address: Any) -> None: ...
    def release(
        self, queue: CommandQueue | None = ..., wait_for: Sequence[Event] | Event | None = ...
    ) -> Event: ...

class MemoryObject(MemoryObjectHolder):
    @property
    def associated_memobject(self) -> Any: ...
    @property
    def context(self) -> Context: ...
    @property
    def flags(self) -> int: ...
    @property
    def host_ptr(self) -> Any: ...
    @property
    def hostbuf(self) -> Any: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def map_count(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def properties(self) -> list[int]: ...
    @property
    def reference_count(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def type(self) -> int: ...
    @property
    def uses_svm_pointer(self) -> bool: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def release(self) -> None: ...

class MemoryObjectHolder:
    @property
    def int_ptr(self) -> int: ...
    def context_address(self) -> int: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_host_array(
        self, shape: int | Sequence[int], dtype: Any, order: str = ...
    ) -> np.ndarray[Any, Any]: ...
    def get_info(self, param: int) -> Any: ...

class NameVersion:
    def __init__(self, version: Any = ..., name: str = ...) -> None: ...

class NannyEvent(Event):
    @property
    def int_ptr(self) -> int: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def get_ward(self) -> Any: ...

class Platform:
    @property
    def extensions(self) -> str: ...
    @property
    def extensions_with_version(self) -> list[NameVersion]: ...
    @property
    def host_timer_resolution(self) -> int: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def numeric_version(self) -> int: ...
    @property
    def profile(self) -> str: ...
    @property
    def vendor(self) -> str: ...
    @property
    def version(self) -> str: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_devices(self, device_type: int = ...) -> list[Device]: ...
    def get_info(self, param: int) -> Any: ...

class Program:
    @property
    def binaries(self) -> list[bytes]: ...
    @property
    def binary_sizes(self) -> list[int]: ...
    @property
    def context(self) -> Context: ...
    @property
    def devices(self) -> list[Device]: ...
    @property
    def il(self) -> bytes: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def kernel_names(self) -> str: ...
    @property
    def num_devices(self) -> int: ...
    @property
    def num_kernels(self) -> int: ...
    @property
    def reference_count(self) -> int: ...
    @property
    def scope_global_ctors_present(self) -> bool: ...
    @property
    def scope_global_dtors_present(self) -> bool: ...
    @property
    def source(self) -> str: ...
    def __getattr__(self, name: str) -> Kernel: ...
    def __init__(self, context: Context, src: Any, binaries: Any = ...) -> None: ...
    def all_kernels(self) -> list[Kernel]: ...
    def build(
        self,
        options: str | Sequence[str] = ...,
        devices: Sequence[Device] | None = ...,
        cache_dir: Any = ...,
    ) -> Self: ...
    def compile(
        self,
        options: str | Sequence[str] = ...,
        devices: Sequence[Device] | None = ...,
        headers: Any = ...,
    ) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_build_info(self, device: Device, param: int) -> Any: ...
    def get_info(self, param: int) -> Any: ...
    def kind(self) -> int: ...

class RepeatedKernelRetrieval(UserWarning): ...
class RuntimeError(Error): ...

class SVM(SVMPointer):
    @property
    def size(self) -> int | None: ...
    @property
    def svm_ptr(self) -> int | None: ...
    def __init__(self, mem: Any) -> None: ...

class SVMAllocation(SVMPointer):
    def __init__(
        self,
        ctx: Context,
        size: int,
        alignment: int = ...,
        flags: int = ...,
        queue: CommandQueue | None = ...,
        _interface: Any = ...,
    ) -> None: ...
    def bind_to_queue(self, queue: CommandQueue) -> None: ...
    def enqueue_release(
        self, queue: CommandQueue | None = ..., wait_for: Sequence[Event] | Event | None = ...
    ) -> Event: ...
    def release(self) -> None: ...
    def unbind_from_queue(self) -> None: ...

class SVMMap:
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: Any) -> None: ...
    def __init__(self, svm: Any, array: Any, queue: CommandQueue, event: Any) -> None: ...
    def release(
        self, queue: CommandQueue | None = ..., wait_for: Sequence[Event] | Event | None = ...
    ) -> Event: ...

class SVMPointer:
    @property
    def size(self) -> int | None: ...
    @property
    def svm_ptr(self) -> int | None: ...
    def as_buffer(
        self, ctx: Context, *, flags: int | None = ..., size: int | None = ...
    ) -> Buffer: ...
    @property
    def buf(self) -> Any: ...
    def map(
        self,
        queue: CommandQueue,
        *,
        flags: int,
        is_blocking: bool = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        size: int | None = ...,
    ) -> SVMMap: ...
    def map_ro(
        self,
        queue: CommandQueue,
        *,
        is_blocking: bool = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        size: int | None = ...,
    ) -> SVMMap: ...
    def map_rw(
        self,
        queue: CommandQueue,
        *,
        is_blocking: bool = ...,
        wait_for: Sequence[Event] | Event | None = ...,
        size: int | None = ...,
    ) -> SVMMap: ...

class Sampler:
    @property
    def addressing_mode(self) -> int: ...
    @property
    def context(self) -> Context: ...
    @property
    def filter_mode(self) -> int: ...
    @property
    def int_ptr(self) -> int: ...
    @property
    def lod_max(self) -> int: ...
    @property
    def lod_max_khr(self) -> int: ...
    @property
    def lod_min(self) -> int: ...
    @property
    def lod_min_khr(self) -> int: ...
    @property
    def mip_filter_mode(self) -> int: ...
    @property
    def mip_filter_mode_khr(self) -> int: ...
    @property
    def normalized_coords(self) -> bool: ...
    @property
    def properties(self) -> int: ...
    @property
    def reference_count(self) -> int: ...
    def __init__(
        self,
        context: Context,
        normalized_coords: Any,
        addressing_mode: Any = ...,
        filter_mode: Any = ...,
    ) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...

class UserEvent(Event):
    @property
    def int_ptr(self) -> int: ...
    def __init__(self, context: Context) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: Any, retain: bool = ...) -> Self: ...
    def get_info(self, param: int) -> Any: ...
    def set_status(self, status: int) -> None: ...

VERSION: Any
VERSION_STATUS: Any
VERSION_TEXT: Any
WaitList: TypeAlias = Sequence[Event] | None

class addressing_mode:
    NONE: int
    CLAMP_TO_EDGE: int
    CLAMP: int
    REPEAT: int
    MIRRORED_REPEAT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class channel_order:
    R: int
    A: int
    RG: int
    RA: int
    RGB: int
    RGBA: int
    BGRA: int
    INTENSITY: int
    LUMINANCE: int
    Rx: int
    RGx: int
    RGBx: int
    sRGB: int
    sRGBx: int
    sRGBA: int
    sBGRA: int
    ABGR: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class channel_type:
    SNORM_INT8: int
    SNORM_INT16: int
    UNORM_INT8: int
    UNORM_INT16: int
    UNORM_SHORT_565: int
    UNORM_SHORT_555: int
    UNORM_INT_101010: int
    SIGNED_INT8: int
    SIGNED_INT16: int
    SIGNED_INT32: int
    UNSIGNED_INT8: int
    UNSIGNED_INT16: int
    UNSIGNED_INT32: int
    HALF_FLOAT: int
    FLOAT: int
    UNORM_INT_101010_2: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def choose_devices(
    interactive: bool | None = ..., answers: Sequence[str] | None = ...
) -> list[Device]: ...

class command_execution_status:
    COMPLETE: int
    RUNNING: int
    SUBMITTED: int
    QUEUED: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class command_queue_info:
    CONTEXT: int
    DEVICE: int
    REFERENCE_COUNT: int
    PROPERTIES: int
    PROPERTIES_ARRAY: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class command_queue_properties:
    OUT_OF_ORDER_EXEC_MODE_ENABLE: int
    PROFILING_ENABLE: int
    ON_DEVICE: int
    ON_DEVICE_DEFAULT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class command_type:
    NDRANGE_KERNEL: int
    TASK: int
    NATIVE_KERNEL: int
    READ_BUFFER: int
    WRITE_BUFFER: int
    COPY_BUFFER: int
    READ_IMAGE: int
    WRITE_IMAGE: int
    COPY_IMAGE: int
    COPY_IMAGE_TO_BUFFER: int
    COPY_BUFFER_TO_IMAGE: int
    MAP_BUFFER: int
    MAP_IMAGE: int
    UNMAP_MEM_OBJECT: int
    MARKER: int
    ACQUIRE_GL_OBJECTS: int
    RELEASE_GL_OBJECTS: int
    READ_BUFFER_RECT: int
    WRITE_BUFFER_RECT: int
    COPY_BUFFER_RECT: int
    USER: int
    BARRIER: int
    MIGRATE_MEM_OBJECTS: int
    FILL_BUFFER: int
    FILL_IMAGE: int
    SVM_FREE: int
    SVM_MEMCPY: int
    SVM_MEMFILL: int
    SVM_MAP: int
    SVM_UNMAP: int
    SVM_MIGRATE_MEM: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def context(device: Device | None = ...) -> Context: ...

class context_info:
    REFERENCE_COUNT: int
    DEVICES: int
    PROPERTIES: int
    NUM_DEVICES: int
    INTEROP_USER_SYNC: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class context_properties:
    PLATFORM: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def create_image(
    context: Context,
    flags: int,
    format: Any,
    shape: int | Sequence[int] | None = ...,
    pitches: Any = ...,
    hostbuf: Any = ...,
    is_array: bool = ...,
    buffer: Any = ...,
) -> Image: ...
def create_program_with_built_in_kernels(
    context: Context, devices: Sequence[Device] | None, kernel_names: str
) -> Program: ...
def create_some_context(
    interactive: bool | None = ..., answers: Sequence[str] | None = ..., cache_dir: Any = ...
) -> Context: ...
def csvm_empty(
    ctx: Context,
    shape: int | Sequence[int],
    dtype: Any,
    order: str = ...,
    alignment: int | None = ...,
    queue: CommandQueue | None = ...,
) -> Any: ...
def csvm_empty_like(ctx: Context, ary: Any, alignment: int | None = ...) -> Any: ...

class device_affinity_domain:
    NUMA: int
    L4_CACHE: int
    L3_CACHE: int
    L2_CACHE: int
    L1_CACHE: int
    NEXT_PARTITIONABLE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_atomic_capabilities:
    ORDER_RELAXED: int
    ORDER_ACQ_REL: int
    ORDER_SEQ_CST: int
    SCOPE_WORK_ITEM: int
    SCOPE_WORK_GROUP: int
    SCOPE_DEVICE: int
    SCOPE_ALL_DEVICES: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_device_enqueue_capabilities:
    SUPPORTED: int
    REPLACEABLE_DEFAULT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_exec_capabilities:
    KERNEL: int
    NATIVE_KERNEL: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_fp_config:
    DENORM: int
    INF_NAN: int
    ROUND_TO_NEAREST: int
    ROUND_TO_ZERO: int
    ROUND_TO_INF: int
    FMA: int
    SOFT_FLOAT: int
    CORRECTLY_ROUNDED_DIVIDE_SQRT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_info:
    TYPE: int
    VENDOR_ID: int
    MAX_COMPUTE_UNITS: int
    MAX_WORK_ITEM_DIMENSIONS: int
    MAX_WORK_GROUP_SIZE: int
    MAX_WORK_ITEM_SIZES: int
    PREFERRED_VECTOR_WIDTH_CHAR: int
    PREFERRED_VECTOR_WIDTH_SHORT: int
    PREFERRED_VECTOR_WIDTH_INT: int
    PREFERRED_VECTOR_WIDTH_LONG: int
    PREFERRED_VECTOR_WIDTH_FLOAT: int
    PREFERRED_VECTOR_WIDTH_DOUBLE: int
    MAX_CLOCK_FREQUENCY: int
    ADDRESS_BITS: int
    MAX_READ_IMAGE_ARGS: int
    MAX_WRITE_IMAGE_ARGS: int
    MAX_MEM_ALLOC_SIZE: int
    IMAGE2D_MAX_WIDTH: int
    IMAGE2D_MAX_HEIGHT: int
    IMAGE3D_MAX_WIDTH: int
    IMAGE3D_MAX_HEIGHT: int
    IMAGE3D_MAX_DEPTH: int
    IMAGE_SUPPORT: int
    MAX_PARAMETER_SIZE: int
    MAX_SAMPLERS: int
    MEM_BASE_ADDR_ALIGN: int
    MIN_DATA_TYPE_ALIGN_SIZE: int
    SINGLE_FP_CONFIG: int
    DOUBLE_FP_CONFIG: int
    HALF_FP_CONFIG: int
    GLOBAL_MEM_CACHE_TYPE: int
    GLOBAL_MEM_CACHELINE_SIZE: int
    GLOBAL_MEM_CACHE_SIZE: int
    GLOBAL_MEM_SIZE: int
    MAX_CONSTANT_BUFFER_SIZE: int
    MAX_CONSTANT_ARGS: int
    LOCAL_MEM_TYPE: int
    LOCAL_MEM_SIZE: int
    ERROR_CORRECTION_SUPPORT: int
    PROFILING_TIMER_RESOLUTION: int
    ENDIAN_LITTLE: int
    AVAILABLE: int
    COMPILER_AVAILABLE: int
    EXECUTION_CAPABILITIES: int
    QUEUE_PROPERTIES: int
    QUEUE_ON_HOST_PROPERTIES: int
    NAME: int
    VENDOR: int
    DRIVER_VERSION: int
    VERSION: int
    PROFILE: int
    EXTENSIONS: int
    PLATFORM: int
    PREFERRED_VECTOR_WIDTH_HALF: int
    HOST_UNIFIED_MEMORY: int
    NATIVE_VECTOR_WIDTH_CHAR: int
    NATIVE_VECTOR_WIDTH_SHORT: int
    NATIVE_VECTOR_WIDTH_INT: int
    NATIVE_VECTOR_WIDTH_LONG: int
    NATIVE_VECTOR_WIDTH_FLOAT: int
    NATIVE_VECTOR_WIDTH_DOUBLE: int
    NATIVE_VECTOR_WIDTH_HALF: int
    OPENCL_C_VERSION: int
    COMPUTE_CAPABILITY_MAJOR_NV: int
    COMPUTE_CAPABILITY_MINOR_NV: int
    REGISTERS_PER_BLOCK_NV: int
    WARP_SIZE_NV: int
    GPU_OVERLAP_NV: int
    KERNEL_EXEC_TIMEOUT_NV: int
    INTEGRATED_MEMORY_NV: int
    ATTRIBUTE_ASYNC_ENGINE_COUNT_NV: int
    PCI_BUS_ID_NV: int
    PCI_SLOT_ID_NV: int
    PCI_DOMAIN_ID_NV: int
    PROFILING_TIMER_OFFSET_AMD: int
    TOPOLOGY_AMD: int
    BOARD_NAME_AMD: int
    GLOBAL_FREE_MEMORY_AMD: int
    SIMD_PER_COMPUTE_UNIT_AMD: int
    SIMD_WIDTH_AMD: int
    SIMD_INSTRUCTION_WIDTH_AMD: int
    WAVEFRONT_WIDTH_AMD: int
    GLOBAL_MEM_CHANNELS_AMD: int
    GLOBAL_MEM_CHANNEL_BANKS_AMD: int
    GLOBAL_MEM_CHANNEL_BANK_WIDTH_AMD: int
    LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD: int
    LOCAL_MEM_BANKS_AMD: int
    THREAD_TRACE_SUPPORTED_AMD: int
    GFXIP_MAJOR_AMD: int
    GFXIP_MINOR_AMD: int
    AVAILABLE_ASYNC_QUEUES_AMD: int
    PREFERRED_WORK_GROUP_SIZE_AMD: int
    MAX_WORK_GROUP_SIZE_AMD: int
    PREFERRED_CONSTANT_BUFFER_SIZE_AMD: int
    PCIE_ID_AMD: int
    LINKER_AVAILABLE: int
    BUILT_IN_KERNELS: int
    IMAGE_MAX_BUFFER_SIZE: int
    IMAGE_MAX_ARRAY_SIZE: int
    PARENT_DEVICE: int
    PARTITION_MAX_SUB_DEVICES: int
    PARTITION_PROPERTIES: int
    PARTITION_AFFINITY_DOMAIN: int
    PARTITION_TYPE: int
    REFERENCE_COUNT: int
    PREFERRED_INTEROP_USER_SYNC: int
    PRINTF_BUFFER_SIZE: int
    MAX_READ_WRITE_IMAGE_ARGS: int
    MAX_GLOBAL_VARIABLE_SIZE: int
    QUEUE_ON_DEVICE_PROPERTIES: int
    QUEUE_ON_DEVICE_PREFERRED_SIZE: int
    QUEUE_ON_DEVICE_MAX_SIZE: int
    MAX_ON_DEVICE_QUEUES: int
    MAX_ON_DEVICE_EVENTS: int
    SVM_CAPABILITIES: int
    GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE: int
    MAX_PIPE_ARGS: int
    PIPE_MAX_ACTIVE_RESERVATIONS: int
    PIPE_MAX_PACKET_SIZE: int
    PREFERRED_PLATFORM_ATOMIC_ALIGNMENT: int
    PREFERRED_GLOBAL_ATOMIC_ALIGNMENT: int
    PREFERRED_LOCAL_ATOMIC_ALIGNMENT: int
    IL_VERSION: int
    MAX_NUM_SUB_GROUPS: int
    SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: int
    NUMERIC_VERSION: int
    EXTENSIONS_WITH_VERSION: int
    ILS_WITH_VERSION: int
    BUILT_IN_KERNELS_WITH_VERSION: int
    ATOMIC_MEMORY_CAPABILITIES: int
    ATOMIC_FENCE_CAPABILITIES: int
    NON_UNIFORM_WORK_GROUP_SUPPORT: int
    OPENCL_C_ALL_VERSIONS: int
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE: int
    WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT: int
    GENERIC_ADDRESS_SPACE_SUPPORT: int
    OPENCL_C_FEATURES: int
    DEVICE_ENQUEUE_CAPABILITIES: int
    PIPE_SUPPORT: int
    ME_VERSION_INTEL: int
    EXT_MEM_PADDING_IN_BYTES_QCOM: int
    PAGE_SIZE_QCOM: int
    SPIR_VERSIONS: int
    SIMULTANEOUS_INTEROPS_INTEL: int
    NUM_SIMULTANEOUS_INTEROPS_INTEL: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_local_mem_type:
    LOCAL: int
    GLOBAL: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_mem_cache_type:
    NONE: int
    READ_ONLY_CACHE: int
    READ_WRITE_CACHE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_partition_property:
    EQUALLY: int
    BY_COUNTS: int
    BY_COUNTS_LIST_END: int
    BY_AFFINITY_DOMAIN: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_svm_capabilities:
    COARSE_GRAIN_BUFFER: int
    FINE_GRAIN_BUFFER: int
    FINE_GRAIN_SYSTEM: int
    ATOMICS: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_topology_type_amd:
    PCIE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class device_type:
    DEFAULT: int
    CPU: int
    GPU: int
    ACCELERATOR: int
    CUSTOM: int
    ALL: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def enqueue_barrier(
    queue: CommandQueue, wait_for: Sequence[Event] | Event | None = ...
) -> Event: ...
def enqueue_copy(queue: CommandQueue, dest: Any, src: Any, **kwargs: Any) -> Event: ...
def enqueue_fill(
    queue: CommandQueue,
    dest: Any,
    pattern: Any,
    size: int | None = ...,
    *,
    offset: int = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Event: ...
def enqueue_fill_buffer(
    queue: CommandQueue,
    mem: Any,
    pattern: Any,
    offset: int,
    size: int,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Event: ...
def enqueue_fill_image(
    queue: CommandQueue,
    mem: Any,
    color: Any,
    origin: Any,
    region: Any,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Event: ...
def enqueue_map_buffer(
    queue: CommandQueue,
    buf: Any,
    flags: int,
    offset: int,
    shape: int | Sequence[int],
    dtype: Any,
    order: str = ...,
    strides: Any = ...,
    wait_for: Sequence[Event] | Event | None = ...,
    is_blocking: bool = ...,
) -> tuple[np.ndarray[Any, Any], Event]: ...
def enqueue_map_image(
    queue: CommandQueue,
    img: Any,
    flags: int,
    origin: Any,
    region: Any,
    shape: int | Sequence[int],
    dtype: Any,
    order: str = ...,
    strides: Any = ...,
    wait_for: Sequence[Event] | Event | None = ...,
    is_blocking: bool = ...,
) -> tuple[np.ndarray[Any, Any], Event, tuple[int, int], tuple[int, int]]: ...
def enqueue_marker(
    queue: CommandQueue, wait_for: Sequence[Event] | Event | None = ...
) -> Event: ...
def enqueue_migrate_mem_objects(
    queue: CommandQueue,
    mem_objects: Sequence[MemoryObjectHolder],
    flags: int = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Event: ...
def enqueue_nd_range_kernel(
    queue: CommandQueue,
    kernel: Kernel,
    global_work_size: int | Sequence[int],
    local_work_size: int | Sequence[int] | None,
    global_work_offset: int | Sequence[int] | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
    g_times_l: bool = ...,
    allow_empty_ndrange: bool = ...,
) -> Event: ...
def enqueue_svm_memfill(
    queue: CommandQueue,
    dest: Any,
    pattern: Any,
    byte_count: int | None = ...,
    wait_for: Sequence[Event] | Event | None = ...,
) -> Event: ...
def enqueue_svm_migrate_mem(
    queue: CommandQueue, svms: Any, flags: int, wait_for: Sequence[Event] | Event | None = ...
) -> Event: ...
def enqueue_task(
    queue: CommandQueue, kernel: Kernel, wait_for: Sequence[Event] | Event | None = ...
) -> Event: ...

class event_info:
    COMMAND_QUEUE: int
    COMMAND_TYPE: int
    REFERENCE_COUNT: int
    COMMAND_EXECUTION_STATUS: int
    CONTEXT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class filter_mode:
    NEAREST: int
    LINEAR: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def from_pyopencl(x: Any) -> Any: ...
def fsvm_empty(
    ctx: Context,
    shape: int | Sequence[int],
    dtype: Any,
    order: str = ...,
    alignment: int | None = ...,
    queue: CommandQueue | None = ...,
) -> Any: ...
def fsvm_empty_like(ctx: Context, ary: Any, alignment: int | None = ...) -> Any: ...
def get_cl_header_version() -> tuple[int, int]: ...
def get_platforms() -> list[Platform]: ...
def get_supported_image_formats(
    context: Context, flags: int, image_type: int
) -> list[ImageFormat]: ...

class gl_context_info:
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def have_gl() -> bool: ...
def image_from_array(
    ctx: Context, ary: Any, num_channels: int | None = ..., mode: str = ..., norm_int: bool = ...
) -> Image: ...

class image_info:
    FORMAT: int
    ELEMENT_SIZE: int
    ROW_PITCH: int
    SLICE_PITCH: int
    WIDTH: int
    HEIGHT: int
    DEPTH: int
    ARRAY_SIZE: int
    BUFFER: int
    NUM_MIP_LEVELS: int
    NUM_SAMPLES: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_arg_access_qualifier:
    READ_ONLY: int
    WRITE_ONLY: int
    READ_WRITE: int
    NONE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_arg_address_qualifier:
    GLOBAL: int
    LOCAL: int
    CONSTANT: int
    PRIVATE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_arg_info:
    ADDRESS_QUALIFIER: int
    ACCESS_QUALIFIER: int
    TYPE_NAME: int
    TYPE_QUALIFIER: int
    NAME: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_arg_type_qualifier:
    NONE: int
    CONST: int
    RESTRICT: int
    VOLATILE: int
    PIPE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_info:
    FUNCTION_NAME: int
    NUM_ARGS: int
    REFERENCE_COUNT: int
    CONTEXT: int
    PROGRAM: int
    ATTRIBUTES: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_sub_group_info:
    MAX_SUB_GROUP_SIZE_FOR_NDRANGE: int
    SUB_GROUP_COUNT_FOR_NDRANGE: int
    LOCAL_SIZE_FOR_SUB_GROUP_COUNT: int
    MAX_NUM_SUB_GROUPS: int
    COMPILE_NUM_SUB_GROUPS: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class kernel_work_group_info:
    WORK_GROUP_SIZE: int
    COMPILE_WORK_GROUP_SIZE: int
    LOCAL_MEM_SIZE: int
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE: int
    PRIVATE_MEM_SIZE: int
    GLOBAL_WORK_SIZE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class khronos_vendor_id:
    CODEPLAY: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def link_program(
    context: Context,
    programs: Sequence[Program],
    options: str | Sequence[str] = ...,
    devices: Sequence[Device] | None = ...,
) -> Program: ...

class map_flags:
    READ: int
    WRITE: int
    WRITE_INVALIDATE_REGION: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class mem_flags:
    READ_WRITE: int
    WRITE_ONLY: int
    READ_ONLY: int
    USE_HOST_PTR: int
    ALLOC_HOST_PTR: int
    COPY_HOST_PTR: int
    HOST_WRITE_ONLY: int
    HOST_READ_ONLY: int
    HOST_NO_ACCESS: int
    KERNEL_READ_AND_WRITE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class mem_info:
    TYPE: int
    FLAGS: int
    SIZE: int
    HOST_PTR: int
    MAP_COUNT: int
    REFERENCE_COUNT: int
    CONTEXT: int
    ASSOCIATED_MEMOBJECT: int
    OFFSET: int
    USES_SVM_POINTER: int
    PROPERTIES: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class mem_migration_flags:
    HOST: int
    CONTENT_UNDEFINED: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class mem_object_type:
    BUFFER: int
    IMAGE2D: int
    IMAGE3D: int
    IMAGE2D_ARRAY: int
    IMAGE1D: int
    IMAGE1D_ARRAY: int
    IMAGE1D_BUFFER: int
    PIPE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class pipe_info:
    PACKET_SIZE: int
    MAX_PACKETS: int
    PROPERTIES: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class pipe_properties:
    PACKET_SIZE: int
    MAX_PACKETS: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class platform_info:
    PROFILE: int
    VERSION: int
    NAME: int
    VENDOR: int
    EXTENSIONS: int
    HOST_TIMER_RESOLUTION: int
    NUMERIC_VERSION: int
    EXTENSIONS_WITH_VERSION: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class profiling_info:
    QUEUED: int
    SUBMIT: int
    START: int
    END: int
    COMPLETE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class program_binary_type:
    NONE: int
    COMPILED_OBJECT: int
    LIBRARY: int
    EXECUTABLE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class program_build_info:
    STATUS: int
    OPTIONS: int
    LOG: int
    BINARY_TYPE: int
    GLOBAL_VARIABLE_TOTAL_SIZE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class program_info:
    REFERENCE_COUNT: int
    CONTEXT: int
    NUM_DEVICES: int
    DEVICES: int
    SOURCE: int
    BINARY_SIZES: int
    BINARIES: int
    NUM_KERNELS: int
    KERNEL_NAMES: int
    IL: int
    SCOPE_GLOBAL_CTORS_PRESENT: int
    SCOPE_GLOBAL_DTORS_PRESENT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class program_kind:
    UNKNOWN: int
    SOURCE: int
    BINARY: int
    IL: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def queue(device: Device | None = ...) -> CommandQueue: ...

class queue_properties:
    PROPERTIES: int
    SIZE: int
    DEVICE_DEFAULT: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class sampler_info:
    REFERENCE_COUNT: int
    CONTEXT: int
    NORMALIZED_COORDS: int
    ADDRESSING_MODE: int
    FILTER_MODE: int
    MIP_FILTER_MODE: int
    LOD_MIN: int
    LOD_MAX: int
    PROPERTIES: int
    MIP_FILTER_MODE_KHR: int
    LOD_MIN_KHR: int
    LOD_MAX_KHR: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class sampler_properties:
    NORMALIZED_COORDS: int
    ADDRESSING_MODE: int
    FILTER_MODE: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

class status_code:
    SUCCESS: int
    DEVICE_NOT_FOUND: int
    DEVICE_NOT_AVAILABLE: int
    COMPILER_NOT_AVAILABLE: int
    MEM_OBJECT_ALLOCATION_FAILURE: int
    OUT_OF_RESOURCES: int
    OUT_OF_HOST_MEMORY: int
    PROFILING_INFO_NOT_AVAILABLE: int
    MEM_COPY_OVERLAP: int
    IMAGE_FORMAT_MISMATCH: int
    IMAGE_FORMAT_NOT_SUPPORTED: int
    BUILD_PROGRAM_FAILURE: int
    MAP_FAILURE: int
    INVALID_VALUE: int
    INVALID_DEVICE_TYPE: int
    INVALID_PLATFORM: int
    INVALID_DEVICE: int
    INVALID_CONTEXT: int
    INVALID_QUEUE_PROPERTIES: int
    INVALID_COMMAND_QUEUE: int
    INVALID_HOST_PTR: int
    INVALID_MEM_OBJECT: int
    INVALID_IMAGE_FORMAT_DESCRIPTOR: int
    INVALID_IMAGE_SIZE: int
    INVALID_SAMPLER: int
    INVALID_BINARY: int
    INVALID_BUILD_OPTIONS: int
    INVALID_PROGRAM: int
    INVALID_PROGRAM_EXECUTABLE: int
    INVALID_KERNEL_NAME: int
    INVALID_KERNEL_DEFINITION: int
    INVALID_KERNEL: int
    INVALID_ARG_INDEX: int
    INVALID_ARG_VALUE: int
    INVALID_ARG_SIZE: int
    INVALID_KERNEL_ARGS: int
    INVALID_WORK_DIMENSION: int
    INVALID_WORK_GROUP_SIZE: int
    INVALID_WORK_ITEM_SIZE: int
    INVALID_GLOBAL_OFFSET: int
    INVALID_EVENT_WAIT_LIST: int
    INVALID_EVENT: int
    INVALID_OPERATION: int
    INVALID_GL_OBJECT: int
    INVALID_BUFFER_SIZE: int
    INVALID_MIP_LEVEL: int
    PLATFORM_NOT_FOUND_KHR: int
    MISALIGNED_SUB_BUFFER_OFFSET: int
    EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: int
    INVALID_GLOBAL_WORK_SIZE: int
    COMPILE_PROGRAM_FAILURE: int
    LINKER_NOT_AVAILABLE: int
    LINK_PROGRAM_FAILURE: int
    DEVICE_PARTITION_FAILED: int
    KERNEL_ARG_INFO_NOT_AVAILABLE: int
    INVALID_IMAGE_DESCRIPTOR: int
    INVALID_COMPILER_OPTIONS: int
    INVALID_LINKER_OPTIONS: int
    INVALID_DEVICE_PARTITION_COUNT: int
    INVALID_PIPE_SIZE: int
    INVALID_DEVICE_QUEUE: int
    INVALID_SPEC_ID: int
    MAX_SIZE_RESTRICTION_EXCEEDED: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def svm_empty(
    ctx: Context,
    flags: int,
    shape: int | Sequence[int],
    dtype: Any,
    order: str = ...,
    alignment: int | None = ...,
    queue: CommandQueue | None = ...,
) -> np.ndarray[Any, Any]: ...
def svm_empty_like(ctx: Context, flags: int, ary: Any, alignment: int | None = ...) -> Any: ...

class svm_mem_flags:
    READ_WRITE: int
    WRITE_ONLY: int
    READ_ONLY: int
    SVM_FINE_GRAIN_BUFFER: int
    SVM_ATOMICS: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def to_pyopencl(x: Any) -> Any: ...
def unload_platform_compiler(platform: Platform) -> None: ...

class version_bits:
    MAJOR_BITS: int
    MINOR_BITS: int
    PATCH_BITS: int
    MAJOR_MASK: int
    MINOR_MASK: int
    PATCH_MASK: int
    @classmethod
    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...

def wait_for_events(events: Sequence[Event]) -> None: ...
def __getattr__(name: str) -> Any: ...
