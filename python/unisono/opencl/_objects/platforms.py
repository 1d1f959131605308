"""Platforms, devices and contexts.

A context of one device is that device's own context in the engine, so that arrays, statements and kernels share its
memory. Contexts of several devices are made anew.
"""

import ctypes
import os
import re
import sys

from ... import _engine
from . import driver
from .constants import (
    context_info,
    context_properties,
    device_info,
    device_partition_property,
    device_type,
    platform_info,
    status_code,
)
from .driver import Error, LogicError, call, create, wrong
from .handles import Holder, address_array, decode, texts_of
from .tables import add_attributes


def _version(text):
    found = re.match(r"OpenCL (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (1, 0)


class Platform(Holder):
    """A driver and its devices; `get_platforms` gives those that there are."""

    _queries = "clGetPlatformInfo", texts_of(
        platform_info, "t PROFILE VERSION NAME VENDOR EXTENSIONS, U HOST_TIMER_RESOLUTION, v EXTENSIONS_WITH_VERSION"
    )  # fmt: skip

    def get_devices(self, device_type=device_type.ALL):
        """Devices of a type, one of `device_type`; an empty list where there are none."""
        count = ctypes.c_uint32()
        ask = driver.function("clGetDeviceIDs")
        code = ask(self.int_ptr, device_type, 0, None, ctypes.byref(count))
        if code == status_code.DEVICE_NOT_FOUND:
            return []
        if code:
            raise driver.error_of(code, "clGetDeviceIDs")
        ids = (ctypes.c_void_p * count.value)()
        call("clGetDeviceIDs", self.int_ptr, device_type, count, ids, None)
        return [Device.from_int_ptr(i) for i in ids]

    def _get_cl_version(self):
        return _version(self.version)

    def __repr__(self):
        return f"<unisono.opencl.Platform '{self.name}' at 0x{self.int_ptr:x}>"


class Device(Holder):
    """A device; its attributes are what the driver tells, by the names of `device_info` in lower case."""

    _retain, _release = "clRetainDevice", "clReleaseDevice"
    _queries = "clGetDeviceInfo", {}

    def get_info(self, param):
        """What the driver answers to a query, one of `device_info`."""
        key = (self.int_ptr, param)
        if key in _device_answers:
            return _device_answers[key]
        data = driver.answer("clGetDeviceInfo", self.int_ptr, param)
        if param in _device_objects:
            return decode(data, _device_objects[param])
        kind = _device_kinds.get(param, "u")
        made = decode(data, kind)
        # Numbers and texts do not change; parts of devices may end, and their addresses be used again.
        if param not in _changing and kind[0] not in "*v" and self._is_whole():
            _device_answers[key] = made
        return made

    def _is_whole(self):
        if self._address not in _whole_devices:
            try:
                parent = driver.answer("clGetDeviceInfo", self._address, device_info.PARENT_DEVICE)
            except Error:  # OpenCL 1.1 has no parts
                parent = b""
            if any(parent):
                return False
            _whole_devices.add(self._address)
        return True

    @property
    def hashable_model_and_version_identifier(self):
        """What tells devices of different model or driver apart."""
        return ("v1", self.vendor, self.vendor_id, self.name, self.version)

    @property
    def persistent_unique_id(self):
        """The former name of `hashable_model_and_version_identifier`."""
        import warnings

        warnings.warn(
            "Device.persistent_unique_id is deprecated; use hashable_model_and_version_identifier",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.hashable_model_and_version_identifier

    def create_sub_devices(self, properties):
        """Parts of the device that are devices.

        Parameters
        ----------
        properties : list of int
            As clCreateSubDevices takes them, for example ``[device_partition_property.EQUALLY, 2]``.

        Returns
        -------
        list of Device
        """
        wanted = list(properties)
        if wanted[:1] == [device_partition_property.BY_COUNTS] and wanted[-1] != 0:
            wanted.append(0)
        wanted = (ctypes.c_ssize_t * (len(wanted) + 1))(*wanted, 0)
        count = ctypes.c_uint32()
        call("clCreateSubDevices", self.int_ptr, wanted, 0, None, ctypes.byref(count))
        ids = (ctypes.c_void_p * count.value)()
        call("clCreateSubDevices", self.int_ptr, wanted, count, ids, None)
        return [Device._of(i) for i in ids]

    def device_and_host_timer(self):
        """The device's clock and the host's, in nanoseconds, read together."""
        ours, theirs = ctypes.c_uint64(), ctypes.c_uint64()
        call("clGetDeviceAndHostTimer", self.int_ptr, ctypes.byref(ours), ctypes.byref(theirs))
        return ours.value, theirs.value

    def host_timer(self):
        """The host's clock as the device sees it, in nanoseconds."""
        time = ctypes.c_uint64()
        call("clGetHostTimer", self.int_ptr, ctypes.byref(time))
        return time.value

    def _get_cl_version(self):
        return _version(self.version)

    def __repr__(self):
        return f"<unisono.opencl.Device '{self.name.strip()}' on '{self.platform.name.strip()}' at 0x{self.int_ptr:x}>"


class DeviceTopologyAmd:
    """Where a device of AMD's sits on the PCI bus."""

    __slots__ = ("bus", "device", "function", "type")

    def __init__(self, bus=0, device=0, function=0):
        self.type, self.bus, self.device, self.function = 1, bus, device, function


_device_answers = {}
_whole_devices = set()
_changing = (device_info.REFERENCE_COUNT, device_info.GLOBAL_FREE_MEMORY_AMD, device_info.AVAILABLE)
_device_kinds = texts_of(
    device_info,
    """t NAME VENDOR DRIVER_VERSION VERSION PROFILE EXTENSIONS OPENCL_C_VERSION BUILT_IN_KERNELS IL_VERSION
    BOARD_NAME_AMD SPIR_VERSIONS,
    U TYPE SINGLE_FP_CONFIG DOUBLE_FP_CONFIG HALF_FP_CONFIG MAX_MEM_ALLOC_SIZE GLOBAL_MEM_CACHE_SIZE GLOBAL_MEM_SIZE
    MAX_CONSTANT_BUFFER_SIZE LOCAL_MEM_SIZE EXECUTION_CAPABILITIES QUEUE_PROPERTIES QUEUE_ON_DEVICE_PROPERTIES
    SVM_CAPABILITIES PARTITION_AFFINITY_DOMAIN PROFILING_TIMER_OFFSET_AMD ATOMIC_MEMORY_CAPABILITIES
    ATOMIC_FENCE_CAPABILITIES,
    z MAX_WORK_GROUP_SIZE MAX_PARAMETER_SIZE IMAGE2D_MAX_WIDTH IMAGE2D_MAX_HEIGHT IMAGE3D_MAX_WIDTH IMAGE3D_MAX_HEIGHT
    IMAGE3D_MAX_DEPTH PROFILING_TIMER_RESOLUTION IMAGE_MAX_BUFFER_SIZE IMAGE_MAX_ARRAY_SIZE PRINTF_BUFFER_SIZE
    MAX_GLOBAL_VARIABLE_SIZE GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    *z MAX_WORK_ITEM_SIZES PARTITION_PROPERTIES PARTITION_TYPE GLOBAL_FREE_MEMORY_AMD,
    b IMAGE_SUPPORT ERROR_CORRECTION_SUPPORT ENDIAN_LITTLE AVAILABLE COMPILER_AVAILABLE LINKER_AVAILABLE
    HOST_UNIFIED_MEMORY PREFERRED_INTEROP_USER_SYNC SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS GPU_OVERLAP_NV
    KERNEL_EXEC_TIMEOUT_NV INTEGRATED_MEMORY_NV THREAD_TRACE_SUPPORTED_AMD NON_UNIFORM_WORK_GROUP_SUPPORT
    WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT GENERIC_ADDRESS_SPACE_SUPPORT PIPE_SUPPORT,
    v EXTENSIONS_WITH_VERSION ILS_WITH_VERSION BUILT_IN_KERNELS_WITH_VERSION OPENCL_C_ALL_VERSIONS OPENCL_C_FEATURES""",
)
_device_objects = {device_info.PLATFORM: Platform, device_info.PARENT_DEVICE: Device}
add_attributes(Platform, platform_info)
add_attributes(Device, device_info)


def get_platforms():
    """The platforms of the machine.

    Returns
    -------
    list of Platform

    Raises
    ------
    Error
        If there is no OpenCL library.

    Examples
    --------
    >>> import unisono.opencl as cl
    >>> try:
    ...     devices = [d.name for p in cl.get_platforms() for d in p.get_devices()]
    ... except cl.Error:
    ...     pass
    """
    count = ctypes.c_uint32()
    code = driver.function("clGetPlatformIDs")(0, None, ctypes.byref(count))
    if code == -1001 or (not code and not count.value):  # no driver is installed
        raise LogicError(
            "get_platforms: no OpenCL driver was found; see `python -m unisono doctor`", -1001, "clGetPlatformIDs"
        )  # fmt: skip
    if code:
        raise driver.error_of(code, "clGetPlatformIDs")
    ids = (ctypes.c_void_p * count.value)()
    call("clGetPlatformIDs", count, ids, None)
    return [Platform._of(i) for i in ids]


def unload_platform_compiler(platform):
    """Let a platform's compiler free what it keeps."""
    call("clUnloadPlatformCompiler", platform.int_ptr)


_engine_devices = {}  # addresses of context, device and queue, and the name, by the address of the device


def engine_device(address):
    """(context, queue, name) of the engine's device at an address, or None."""
    if address not in _engine_devices:
        for d in _engine._devices():
            if d.name.startswith("opencl"):
                context, device, queue = _engine._native_handles(d.name)
                _engine_devices[device] = (context, queue, d.name)
    return _engine_devices.get(address)


class Context(Holder):
    """Devices and what they share: memory, programs, events.

    Parameters
    ----------
    devices : list of Device, optional
        By default those of `dev_type`.
    properties : list of tuple, optional
        For example ``[(context_properties.PLATFORM, platform)]``.
    dev_type : int, optional
        One of `device_type`, if `devices` is not given.

    Examples
    --------
    >>> import unisono.opencl as cl
    >>> try:
    ...     context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    ... except cl.Error:
    ...     pass
    """

    _retain, _release = "clRetainContext", "clReleaseContext"
    _queries = "clGetContextInfo", {}

    def __init__(self, devices=None, properties=None, dev_type=None, cache_dir=None):
        if devices is not None and dev_type is not None:
            raise wrong("Context", "INVALID_VALUE", "expected devices or dev_type; got both")
        if devices is None:
            platform = _platform_of(properties)
            devices = platform.get_devices(device_type.DEFAULT if dev_type is None else dev_type)
            if not devices:
                raise wrong(
                    "Context", "DEVICE_NOT_FOUND", f"'{platform.name}' has no device of that type"
                )
        devices = [devices] if isinstance(devices, Device) else list(devices)
        if not devices or not all(isinstance(d, Device) for d in devices):
            raise wrong(
                "Context",
                "INVALID_VALUE",
                f"expected a list of devices, not empty; got {devices!r}",
            )
        self._devices = tuple(devices)  # some drivers forget that they are parts of others
        known = engine_device(devices[0].int_ptr) if len(devices) == 1 and not properties else None
        if known:
            call("clRetainContext", known[0])
            self._address = known[0]
        else:
            wanted = []
            for key, value in properties or [(context_properties.PLATFORM, devices[0].platform)]:
                wanted += [key, value.int_ptr if isinstance(value, Holder) else value]
            wanted = (ctypes.c_ssize_t * (len(wanted) + 1))(*wanted, 0)
            self._address = create(
                "clCreateContext", wanted, len(devices), address_array(devices), None, None
            )

    def get_info(self, param):
        """What the driver answers to a query, one of `context_info`."""
        if param == context_info.DEVICES and "_devices" in self.__dict__:
            return list(self._devices)
        data = driver.answer("clGetContextInfo", self.int_ptr, param)
        if param == context_info.DEVICES:
            return decode(data, [Device])
        if param == context_info.PROPERTIES:
            flat = decode(data, "*z")
            pairs = zip(flat[:-1:2], flat[1::2], strict=False)
            platform = context_properties.PLATFORM
            return [[k, Platform.from_int_ptr(v) if k == platform else v] for k, v in pairs]
        return decode(data, "u")

    @property
    def _engine_name(self):
        """Name of the engine's device whose context it is, or None."""
        found = self.__dict__.get("_found")
        if found is None:
            devices = self.devices
            known = engine_device(devices[0].int_ptr) if len(devices) == 1 else None
            found = self._found = (known[2] if known and known[0] == self._address else None,)
        return found[0]

    def set_default_device_command_queue(self, device, queue):
        """Makes a queue the one on which kernels of a device enqueue others (OpenCL 2.1)."""
        call("clSetDefaultDeviceCommandQueue", self.int_ptr, device.int_ptr, queue.int_ptr)

    def _get_cl_version(self):
        return self.devices[0].platform._get_cl_version()

    def __repr__(self):
        names = ", ".join(repr(d) for d in self.devices)
        return f"<unisono.opencl.Context at 0x{self.int_ptr:x} on {names}>"


add_attributes(Context, context_info)


def _platform_of(properties):
    for key, value in properties or []:
        if key == context_properties.PLATFORM:
            return value
    return get_platforms()[0]


def choose_devices(interactive=None, answers=None):
    """Devices that the environment, the caller or the user chooses.

    Parameters
    ----------
    interactive : bool, optional
        Whether to ask, where there is a choice and a terminal; by default yes.
    answers : list of str, optional
        What would be typed: the platform's number or a part of its name, then the devices', with commas between. By
        default the parts of ``PYOPENCL_CTX``, with colons between.

    Returns
    -------
    list of Device
    """
    if answers is None and "PYOPENCL_CTX" in os.environ:
        answers = os.environ["PYOPENCL_CTX"].split(":")
    given = answers is not None
    answers = list(answers or [])
    ask = interactive is not False and not given and sys.stdin is not None and sys.stdin.isatty()
    platforms = get_platforms()
    platform = _choose("platform", platforms, answers, ask)[0]
    devices = platform.get_devices()
    if not devices:
        raise Error(f"create_some_context: platform '{platform.name}' has no devices")
    chosen = _choose("device", devices, answers, ask)
    if answers:
        raise wrong(
            "create_some_context", "INVALID_VALUE",
            f"not all of what was chosen was asked for; left over: {answers}",
        )  # fmt: skip
    return chosen


def _choose(kind, items, answers, ask):
    if len(items) == 1 and not answers:
        return items
    if answers:
        text = answers.pop(0)
    elif ask:
        for k, item in enumerate(items):
            print(f"[{k}] {item!r}", file=sys.stderr)
        print(f"Choose a {kind} [0]: ", end="", file=sys.stderr, flush=True)
        text = sys.stdin.readline().strip()
    else:
        text = ""
    if not text:
        return items[:1]
    return [_named(kind, items, part.strip()) for part in text.split(",")]


def _named(kind, items, text):
    if text.lstrip("-").isdigit() and -len(items) <= int(text) < len(items):
        return items[int(text)]
    for item in items:
        if text.lower() in item.name.lower():
            return item
    names = ", ".join(f"{k}: {item.name}" for k, item in enumerate(items))
    raise wrong(
        "create_some_context", "INVALID_VALUE",
        f"there is no such {kind}; got {text!r}; expected a number or a part of a name of {names}",
    )  # fmt: skip


def create_some_context(interactive=None, answers=None, cache_dir=None):
    """A context of devices as `choose_devices` chooses them.

    Parameters
    ----------
    interactive, answers
        As for `choose_devices`.

    Returns
    -------
    Context

    Examples
    --------
    >>> import unisono.opencl as cl
    >>> try:
    ...     context = cl.create_some_context(interactive=False)
    ... except cl.Error:
    ...     pass
    """
    return Context(choose_devices(interactive, answers))
