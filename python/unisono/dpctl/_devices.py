"""Devices, platforms and contexts with dpctl's names, over `unisono.devices`."""

from __future__ import annotations

import os
import pathlib

from .. import _engine
from .._engine import DeviceError
from .._runtime.devices import page
from .enum_types import (
    backend_type,
    device_type,
    fp_config,
    global_mem_cache_type,
    local_mem_type,
    memory_order,
    memory_scope,
    partition_property,
)

__all__ = [
    "SyclContext", "SyclContextCreationError", "SyclDevice", "SyclDeviceCreationError", "SyclPlatform",
    "SyclSubDeviceCreationError", "get_composite_devices", "get_devices", "get_num_devices", "get_platforms",
    "has_accelerator_devices", "has_cpu_devices", "has_gpu_devices", "lsplatform", "select_accelerator_device",
    "select_cpu_device", "select_default_device", "select_device_with_aspects", "select_gpu_device",
]  # fmt: skip


class SyclDeviceCreationError(DeviceError):
    """There is no such device."""


class _UnreadableFilter(SyclDeviceCreationError, ValueError):
    """A filter has words that mean nothing."""


class SyclSubDeviceCreationError(DeviceError):
    """A device cannot be divided so."""


class SyclContextCreationError(DeviceError):
    """Devices that make no context."""


# Aspects by dpctl's names, and what says so of our devices.
_ASPECTS = {
    "cpu": lambda d: d.kind == "cpu",
    "gpu": lambda d: d.kind == "gpu",
    "accelerator": lambda d: d.kind == "accelerator",
    "custom": lambda d: False,
    "fp16": lambda d: "fp16" in d.aspects or d.name == "cpu",
    "fp64": lambda d: d.has_float64,
    "atomic64": lambda d: d.has_int64_atomics,
    "image": lambda d: "image" in d.aspects,
    "online_compiler": lambda d: True,
    "online_linker": lambda d: True,
    "queue_profiling": lambda d: d.name != "cpu",
    "usm_device_allocations": lambda d: True,
    "usm_host_allocations": lambda d: True,
    "usm_shared_allocations": lambda d: not d.name.startswith("cuda"),
    "usm_system_allocations": lambda d: d.name == "cpu",
    "usm_atomic_host_allocations": lambda d: False,
    "usm_atomic_shared_allocations": lambda d: False,
    "host_debuggable": lambda d: d.name == "cpu",
    "emulated": lambda d: False,
    "is_component": lambda d: False,
    "is_composite": lambda d: False,
}
# PCI's numbers of vendors, for those that no driver tells.
_VENDORS = {"AMD": 0x1022, "Intel": 0x8086, "NVIDIA": 0x10DE, "ARM": 0x13B5}


def _vendor_id(device):
    return next((n for name, n in _VENDORS.items() if device.vendor.startswith(name)), 0)


def _cache_bytes(device):
    """Of the last cache before memory; 0 where that is not known."""
    if "l2_cache_size" in device.properties:
        return device.properties["l2_cache_size"]
    if device.name != "cpu":
        return 0
    sizes = [
        int(path.read_text().strip().removesuffix("K")) << 10
        for path in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    ]
    return max(sizes, default=0)


def _version(device):
    import unisono as un

    return device.properties.get("platform_version") or un.__version__


# dpctl's attributes, and the properties that OpenCL's and CUDA's drivers tell, or what to say in their place.
_PROPERTIES = {
    "address_bits": ("address_bits", 64), "driver_version": ("driver_version", "1.0"), "vendor_id": ("vendor_id", _vendor_id),
    "max_clock_frequency": ("max_clock_frequency", 0), "max_mem_alloc_size": ("max_mem_alloc_size", lambda d: d.memory_bytes),
    "global_mem_cache_size": ("global_mem_cache_size", _cache_bytes), "global_mem_cache_line_size": ("global_mem_cacheline_size", 64),
    "max_parameter_size": ("max_parameter_size", 1024), "mem_base_addr_align": ("mem_base_addr_align", 64),
    "error_correction_support": ("error_correction_support", False), "max_samplers": ("max_samplers", 0),
    "max_read_image_args": ("max_read_image_args", 0), "max_write_image_args": ("max_write_image_args", 0),
    "image_2d_max_width": ("image2d_max_width", 0), "image_2d_max_height": ("image2d_max_height", 0),
    "image_3d_max_width": ("image3d_max_width", 0), "image_3d_max_height": ("image3d_max_height", 0),
    "image_3d_max_depth": ("image3d_max_depth", 0), "profiling_timer_resolution": ("profiling_timer_resolution", 1),
    "partition_max_sub_devices": ("partition_max_sub_devices", 0), "version": ("version", _version), "backend_version": ("platform_version", _version),
    "image_max_buffer_size": ("image_max_buffer_size", 0),
    "preferred_vector_width_char": ("preferred_vector_width_char", 16),
    "preferred_vector_width_short": ("preferred_vector_width_short", 8),
    "preferred_vector_width_int": ("preferred_vector_width_int", 4),
    "preferred_vector_width_long": ("preferred_vector_width_long", 2),
    "preferred_vector_width_float": ("preferred_vector_width_float", 4),
    "preferred_vector_width_double": ("preferred_vector_width_double", 2),
    "preferred_vector_width_half": ("preferred_vector_width_half", 0),
    "native_vector_width_char": ("native_vector_width_char", 16),
    "native_vector_width_short": ("native_vector_width_short", 8),
    "native_vector_width_int": ("native_vector_width_int", 4),
    "native_vector_width_long": ("native_vector_width_long", 2),
    "native_vector_width_half": ("native_vector_width_half", 0),
    "native_vector_width_float": ("native_vector_width_float", 4),
    "native_vector_width_double": ("native_vector_width_double", 2),
}  # fmt: skip


def _backend(device):
    word = device.name.partition(":")[0]
    return "host" if word == "cpu" else word


def _selected(text):
    """The first device that a filter names, or None: alternatives between commas, of back end, kind and number each."""
    there = list(_engine._devices())
    for alternative in text.split(","):
        found = there
        for word in filter(None, (w.strip() for w in alternative.split(":"))):
            if word.isdigit():
                found = found[int(word) : int(word) + 1]
            elif word in backend_type.__members__:
                found = [d for d in found if word == "all" or _backend(d) == word]
            elif word in device_type.__members__:
                found = [d for d in found if word == "all" or d.kind == word]
            else:
                raise _UnreadableFilter(
                    f"SyclDevice: a filter has back ends, kinds and numbers; got {word!r} in {text!r}; write "
                    f"'opencl:gpu:0' or 'gpu,cpu'"
                )
        if found:
            return found[0]
    return None


class SyclDevice:
    """A device.

    Parameters
    ----------
    arg : str or SyclDevice, optional
        A filter: ``"opencl:gpu:0"``, parts of that, or several between commas, of which the first that fits is taken.
        By default the device of `select_default_device`.

    Raises
    ------
    SyclDeviceCreationError
        If none fits, or the filter cannot be read: that is a ValueError, too.

    Examples
    --------
    >>> from unisono import dpctl
    >>> dpctl.SyclDevice("gpu,cpu").default_selector_score > 0
    True
    """

    def __init__(self, arg=None):
        if isinstance(arg, SyclDevice):
            self._device = arg._device
        elif arg is None:
            self._device = select_default_device()._device
        elif isinstance(arg, str):
            self._device = _selected(arg)
            if self._device is None:
                raise SyclDeviceCreationError(
                    f"SyclDevice: no device fits; got {arg!r}; there are {[str(d) for d in _engine._devices()]}"
                )
        elif isinstance(arg, _engine.Device):
            self._device = arg
        else:
            raise TypeError(
                f"SyclDevice: expected a filter such as 'gpu'; got {type(arg).__name__}"
            )

    name = property(
        lambda self: self._device.description or self._device.name, doc="What its driver calls it."
    )
    vendor = property(lambda self: self._device.vendor, doc="Who made it.")
    backend = property(lambda self: backend_type[_backend(self._device)], doc="A `backend_type`.")
    is_cpu = property(lambda self: self._device.kind == "cpu", doc="Whether it is a CPU.")
    is_gpu = property(lambda self: self._device.kind == "gpu", doc="Whether it is a GPU.")
    is_accelerator = property(
        lambda self: self._device.kind == "accelerator", doc="Whether it is an accelerator."
    )
    max_compute_units = property(lambda self: self._device.compute_units, doc="Compute units.")
    max_work_group_size = property(
        lambda self: self._device.max_work_group_size, doc="Items of a work-group at most."
    )
    max_work_item_sizes = property(
        lambda self: tuple(self._device.max_work_item_sizes),
        doc="Items of a work-group along an axis at most.",
    )
    max_work_item_sizes3d = max_work_item_sizes
    max_work_item_sizes2d = property(
        lambda self: self.max_work_item_sizes[:2], doc="The same of ranges of two axes."
    )
    max_work_item_sizes1d = property(
        lambda self: self.max_work_item_sizes[:1], doc="The same of ranges of one axis."
    )
    max_work_item_dims = property(
        lambda self: len(self._device.max_work_item_sizes), doc="Axes of a range at most."
    )
    global_mem_size = property(lambda self: self._device.memory_bytes, doc="Bytes of memory.")
    local_mem_size = property(
        lambda self: self._device.local_memory_bytes, doc="Bytes of local memory."
    )
    sub_group_sizes = property(lambda self: [32], doc="Items of a sub-group, on every device.")
    max_num_sub_groups = property(
        lambda self: max(1, self.max_work_group_size // 32),
        doc="Sub-groups of a work-group at most.",
    )
    sub_group_independent_forward_progress = False
    is_available = True

    half_fp_config = property(
        lambda self: self._floats("half", self.has_aspect_fp16),
        doc="Of float16, a tuple of `fp_config`.",
    )
    single_fp_config = property(
        lambda self: self._floats("single", True), doc="Of float32, a tuple of `fp_config`."
    )
    double_fp_config = property(
        lambda self: self._floats("double", self.has_aspect_fp64),
        doc="Of float64, a tuple of `fp_config`.",
    )
    # Atomic operations of kernels are relaxed; a fence orders what stands before and behind it.
    atomic_memory_order_capabilities = (memory_order.relaxed,)
    atomic_fence_order_capabilities = (
        memory_order.relaxed, memory_order.acquire, memory_order.release, memory_order.acq_rel,
    )  # fmt: skip
    atomic_memory_scope_capabilities = atomic_fence_scope_capabilities = (
        memory_scope.work_item, memory_scope.sub_group, memory_scope.work_group, memory_scope.device,
    )  # fmt: skip
    partition_affinity_domains = ()
    partition_type_affinity_domain = "not_applicable"

    def _floats(self, width, has_them):
        # What the driver does not tell: IEEE's numbers, rounded to nearest, with fma.
        bits = self._device.properties.get(f"{width}_fp_config", 0b10100111 if has_them else 0)
        return tuple(c for c in fp_config if bits >> (c.value - 1) & 1)

    @property
    def global_mem_cache_type(self):
        """A `global_mem_cache_type`."""
        has_cache = self.global_mem_cache_size > 0
        return global_mem_cache_type.read_write if has_cache else global_mem_cache_type.none

    @property
    def local_mem_type(self):
        """A `local_mem_type`."""
        number = self._device.properties.get(
            "local_mem_type", 2 if self._device.name == "cpu" else 1
        )
        return local_mem_type.local if number == 1 else local_mem_type.global_mem

    @property
    def partition_properties(self):
        """How `create_sub_devices` divides it, a tuple of `partition_property`."""
        if "sub_devices" not in self._device.aspects:
            return ()
        return (partition_property.partition_equally, partition_property.partition_by_counts)

    @property
    def partition_type_property(self):
        """How it came from its `parent_device`, a `partition_property`."""
        is_whole = self._device.parent is None
        return (
            partition_property.no_partition if is_whole else partition_property.partition_by_counts
        )

    @property
    def device_type(self):
        """A `device_type`."""
        kind = self._device.kind
        return device_type[kind] if kind in device_type.__members__ else device_type.unknown

    @property
    def default_selector_score(self):
        """The device with the largest one is the default."""
        return {"gpu": 3, "accelerator": 2}.get(self._device.kind, 1) * 100 + (
            self._device.name == "cpu"
        )

    @property
    def parent_device(self):
        """What it is a part of, or None."""
        parent = self._device.parent
        return None if parent is None else SyclDevice(_engine._find_device(str(parent)))

    @property
    def sycl_platform(self):
        """Its SyclPlatform."""
        return SyclPlatform._of(self._device)

    @property
    def filter_string(self):
        """Text that selects it: back end, kind and number."""
        alike = [
            d
            for d in _engine._devices()
            if _backend(d) == _backend(self._device) and d.kind == self._device.kind
        ]
        number = alike.index(self._device) if self._device in alike else 0
        return f"{_backend(self._device)}:{self._device.kind}:{number}"

    def get_filter_string(self, include_backend=True, include_device_type=True):
        """`filter_string`, or parts of it."""
        backend, kind, number = self.filter_string.split(":")
        if not (include_backend and include_device_type):
            rest = [
                d for d in _engine._devices()
                if (not include_backend or _backend(d) == backend) and (not include_device_type or d.kind == kind)
            ]  # fmt: skip
            number = rest.index(self._device)
        return ":".join([*[backend] * include_backend, *[kind] * include_device_type, str(number)])

    def create_sub_devices(self, partition):
        """Parts of it, of so many compute units each, or of the numbers listed.

        Raises
        ------
        SyclSubDeviceCreationError
            If it cannot be divided so.
        """
        if isinstance(partition, str):
            raise SyclSubDeviceCreationError(
                f"create_sub_devices: parts are numbers of compute units; got {partition!r}; give an int or a list"
            )
        is_list = isinstance(partition, (tuple, list))
        counts = [int(n) for n in (partition if is_list else (partition,))]
        if min(counts, default=0) <= 0:
            raise TypeError(
                f"create_sub_devices: parts have compute units; got {partition!r}; expected numbers above 0"
            )
        given = counts if is_list else counts[0]
        try:
            return [SyclDevice(d) for d in self._device.create_sub_devices(given)]
        except (DeviceError, ValueError) as error:
            raise SyclSubDeviceCreationError(f"create_sub_devices: {error}") from None

    def get_unpartitioned_parent_device(self):
        """The device that it is a part of, of which no other one is the parent; itself where it is no part."""
        found = self
        while (parent := found.parent_device) is not None:
            found = parent
        return found

    def get_device_id(self):
        """Its index in `get_devices`; of a part that of the whole."""
        return get_devices().index(self.get_unpartitioned_parent_device())

    def can_access_peer(self, peer, value="access_supported"):
        """False but for itself: arrays of other devices are copied.

        Raises
        ------
        TypeError, ValueError
            If `peer` is no SyclDevice, or `value` neither "access_supported" nor "atomics_supported".
        """
        self._check_peer("can_access_peer", peer)
        if value not in ("access_supported", "atomics_supported"):
            raise ValueError(
                f"can_access_peer: value is 'access_supported' or 'atomics_supported'; got {value!r}"
            )
        return self == peer

    def enable_peer_access(self, peer):
        """Without effect: arrays of other devices are copied."""
        self._check_peer("enable_peer_access", peer)

    def disable_peer_access(self, peer):
        """Without effect."""
        self._check_peer("disable_peer_access", peer)

    @staticmethod
    def _check_peer(what, peer):
        if not isinstance(peer, SyclDevice):
            raise TypeError(f"{what}: peer is a SyclDevice; got {type(peer).__name__}")

    def print_device_info(self):
        """Print what is known of it."""
        print(
            f"    Name            {self.name}\n    Driver version  {self.driver_version}\n    Vendor          {self.vendor}"
        )
        print(f"    Filter string   {self.filter_string}\n")

    def __getattr__(self, name):
        if name.startswith("has_aspect_"):
            word = name.removeprefix("has_aspect_")
            if word in _ASPECTS:
                return bool(_ASPECTS[word](self._device))
        elif name in _PROPERTIES:
            source, otherwise = _PROPERTIES[name]
            if source in self._device.properties or not callable(otherwise):
                return self._device.properties.get(source, otherwise)
            return otherwise(self._device)
        raise AttributeError(
            f"SyclDevice has no attribute '{name}'; print(device._device.properties) shows more"
        )

    def __dir__(self):
        return sorted({*object.__dir__(self), *_PROPERTIES, *(f"has_aspect_{a}" for a in _ASPECTS)})

    def __eq__(self, other):
        return isinstance(other, SyclDevice) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        kind, backend = self.device_type, self.backend
        return f"<unisono.dpctl.SyclDevice [{backend}, {kind}, {self.name}]>"


class SyclPlatform:
    """The devices of one driver.

    Parameters
    ----------
    arg : str, optional
        A filter that one of its devices fits.

    Raises
    ------
    ValueError
        If no device fits.
    """

    def __init__(self, arg=None):
        try:
            found = SyclPlatform._of(SyclDevice(arg)._device)
        except (SyclDeviceCreationError, TypeError) as error:
            raise ValueError(f"SyclPlatform: {error}") from None
        self.name, self.version, self._devices = found.name, found.version, found._devices

    @classmethod
    def _of(cls, device):
        self = object.__new__(cls)
        name = device.properties.get(
            "platform", "Unisono" if device.name == "cpu" else _backend(device)
        )
        self.name, self.version = name, device.properties.get("platform_version", "")
        self._devices = [
            d for d in _engine._devices()
            if _backend(d) == _backend(device) and d.properties.get("platform") == device.properties.get("platform")
        ]  # fmt: skip
        return self

    vendor = property(lambda self: self._devices[0].vendor, doc="Of its first device.")
    backend = property(
        lambda self: backend_type[_backend(self._devices[0])], doc="A `backend_type`."
    )
    default_context = property(
        lambda self: SyclContext(self.get_devices()), doc="A context of all its devices."
    )

    def get_devices(self, device_type="all"):
        """Its devices of a kind."""
        kind = getattr(device_type, "name", device_type)
        return [SyclDevice(d) for d in self._devices if kind in ("all", d.kind)]

    def get_composite_devices(self):
        """An empty list: no device is made of others."""
        return []

    def print_platform_info(self, verbosity=0):
        """Print its name and version, with `verbosity` also its devices."""
        print(f"Platform: {self.name}, {self.version}")
        for d in self._devices if verbosity else ():
            print("\n".join(page(d)) if verbosity > 1 else f"  {d.name}: {d.description}")

    def __eq__(self, other):
        return isinstance(other, SyclPlatform) and self._devices == other._devices

    def __hash__(self):
        return hash(tuple(self._devices))

    def __repr__(self):
        return f"<unisono.dpctl.SyclPlatform {self.name}>"


class SyclContext:
    """Devices that belong together.

    Parameters
    ----------
    arg : SyclDevice, list of SyclDevice, str or SyclContext, optional
    """

    def __init__(self, arg=None):
        if isinstance(arg, SyclContext):
            self._devices = arg._devices
        elif isinstance(arg, (list, tuple)):
            if not arg or not all(isinstance(d, SyclDevice) for d in arg):
                raise SyclContextCreationError(
                    f"SyclContext: expected devices; got {arg!r}; give a list of SyclDevice"
                )
            self._devices = tuple(arg)
        else:
            try:
                self._devices = (SyclDevice(arg),)
            except SyclDeviceCreationError as error:
                raise SyclContextCreationError(f"SyclContext: {error}") from None

    device_count = property(lambda self: len(self._devices), doc="How many devices it has.")
    atomic_memory_order_capabilities = SyclDevice.atomic_memory_order_capabilities
    atomic_fence_order_capabilities = SyclDevice.atomic_fence_order_capabilities
    atomic_memory_scope_capabilities = SyclDevice.atomic_memory_scope_capabilities
    atomic_fence_scope_capabilities = SyclDevice.atomic_fence_scope_capabilities
    sycl_platform = property(
        lambda self: self._devices[0].sycl_platform, doc="Of its first device."
    )

    def get_devices(self):
        """Its devices."""
        return list(self._devices)

    def __eq__(self, other):
        return isinstance(other, SyclContext) and self._devices == other._devices

    def __hash__(self):
        return hash(self._devices)

    def __repr__(self):
        return f"<unisono.dpctl.SyclContext of {self.device_count} devices>"


# ---- selection
def _word(value):
    return getattr(value, "name", value)


def get_devices(backend="all", device_type="all"):
    """The devices of a back end and kind.

    Examples
    --------
    >>> from unisono import dpctl
    >>> len(dpctl.get_devices()) >= len(dpctl.get_devices(device_type="gpu"))
    True
    """
    return [
        SyclDevice(d) for d in _engine._devices()
        if _word(backend) in ("all", _backend(d)) and _word(device_type) in ("all", d.kind)
    ]  # fmt: skip


def get_composite_devices():
    """An empty list: no device is made of others."""
    return []


def get_num_devices(backend="all", device_type="all"):
    """How many devices `get_devices` gives."""
    return len(get_devices(backend, device_type))


def has_cpu_devices():
    """Whether there is a CPU."""
    return get_num_devices(device_type="cpu") > 0


def has_gpu_devices():
    """Whether there is a GPU."""
    return get_num_devices(device_type="gpu") > 0


def has_accelerator_devices():
    """Whether there is an accelerator."""
    return get_num_devices(device_type="accelerator") > 0


def select_default_device():
    """The device of ``with device_context(...)``, else that of ``SYCL_DEVICE_FILTER``, ``ONEAPI_DEVICE_SELECTOR`` or
    ``UNISONO_DEVICE``, else the first GPU, else the CPU.

    Raises
    ------
    SyclDeviceCreationError
        If the variable names none that there is.
    """
    import unisono as un

    from .._runtime import queues

    if queues._place.get() is not None or _engine._setting("device") not in ("", "cpu"):
        return SyclDevice(un.empty(0).device)
    for name in ("SYCL_DEVICE_FILTER", "ONEAPI_DEVICE_SELECTOR"):
        text = os.environ.get(name, "").replace("*", "all").replace(";", ",")
        if text:
            return SyclDevice(text)
    return max(get_devices(), key=lambda d: d.default_selector_score)


def select_cpu_device():
    """A CPU."""
    return SyclDevice("cpu")


def select_gpu_device():
    """A GPU; SyclDeviceCreationError where there is none."""
    return SyclDevice("gpu")


def select_accelerator_device():
    """An accelerator; SyclDeviceCreationError where there is none."""
    return SyclDevice("accelerator")


def select_device_with_aspects(required_aspects, excluded_aspects=()):
    """The device with the largest `default_selector_score` that has some aspects and has not others.

    Parameters
    ----------
    required_aspects, excluded_aspects : str or sequence of str

    Raises
    ------
    SyclDeviceCreationError
        If there is none.
    AttributeError
        For an aspect that is not known.

    Examples
    --------
    >>> from unisono import dpctl
    >>> dpctl.select_device_with_aspects(["fp64", "cpu"]).has_aspect_fp64
    True
    """
    wanted = [required_aspects] if isinstance(required_aspects, str) else list(required_aspects)
    unwanted = [excluded_aspects] if isinstance(excluded_aspects, str) else list(excluded_aspects)
    for word in (*wanted, *unwanted):
        if word not in _ASPECTS:
            raise AttributeError(
                f"select_device_with_aspects: the aspect is not known; got {word!r}; expected one of {', '.join(_ASPECTS)}"
            )
    found = [
        d for d in get_devices()
        if all(_ASPECTS[a](d._device) for a in wanted) and not any(_ASPECTS[a](d._device) for a in unwanted)
    ]  # fmt: skip
    if not found:
        raise SyclDeviceCreationError(
            f"select_device_with_aspects: no device fits; got {wanted}, without {unwanted}; see get_devices()"
        )
    return max(found, key=lambda d: d.default_selector_score)


def get_platforms():
    """The SyclPlatforms."""
    made = []
    for d in _engine._devices():
        platform = SyclPlatform._of(d)
        if platform not in made:
            made.append(platform)
    return made


def lsplatform(verbosity=0):
    """Print the platforms, with `verbosity` 1 their devices, with 2 all that is known of these."""
    for platform in get_platforms():
        platform.print_platform_info(verbosity)
