"""Types of `unisono.opencl` and its modules, for scripts/stubs.py: parameters by their names, attributes by the tables of queries."""

import importlib
import inspect
import re

HEAD = '''"""Types of ``{module}``, written by scripts/stubs.py."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

'''
MODULES = "array clmath clrandom elementwise reduction scan algorithm tools bitonic_sort".split()

SIZE = "int | Sequence[int]"
WAITS = "Sequence[Event] | Event | None"
PARAMETERS = {
    **dict.fromkeys("queue cq array_queue".split(), "CommandQueue"),
    **dict.fromkeys("context ctx".split(), "Context"),
    **dict.fromkeys("kernel".split(), "Kernel"),
    **dict.fromkeys("device dev".split(), "Device"),
    **dict.fromkeys("global_work_size global_size global_offset global_work_offset".split(), SIZE),
    **dict.fromkeys("local_work_size local_size".split(), SIZE + " | None"),
    **dict.fromkeys("name preamble operation neutral map_expr reduce_expr key_expr mode input_expr".split(), "str"),
    **dict.fromkeys("scan_expr output_statement loop_prep after_loop predicate is_equal_expr kernel_names".split(), "str"),
    **dict.fromkeys("size offset origin_size byte_count bin_nr index arg_index alignment num_channels axis".split(), "int"),
    **dict.fromkeys("flags param device_type status command_exec_callback_type image_type value".split(), "int"),
    **dict.fromkeys("is_blocking interactive g_times_l allow_empty_ndrange use_range return_event".split(), "bool"),
    **dict.fromkeys("dtype output_dtype dtype_out input_dtype scalar".split(), "Any"),
    **dict.fromkeys("array a b x x1 x2 y ary indices".split(), "Any"),
    **dict.fromkeys("arrays".split(), "Sequence[Array]"),
    "wait_for": WAITS,
    "events": "Sequence[Event]",
    "devices": "Sequence[Device] | None",
    "programs": "Sequence[Program]",
    "options": "str | Sequence[str]",
    "program": "Program",
    "platform": "Platform",
    "image": "Image",
    "mem_objects": "Sequence[MemoryObjectHolder]",
    "shape": SIZE,
    "order": "str",
    "answers": "Sequence[str] | None",
    "evt": "Event",
    "out": "Array | None",
    "arguments": "str | Sequence[Any]",
    "extra_args": "Sequence[Any] | None",
    "allocator": "Callable[[int], Any] | None",
    "pfn_event_notify": "Callable[[int], object]",
    "async_": "bool | None",
    "scalar_arg_dtypes": "Sequence[Any]",
    "arg_types": "Sequence[Any]",
}  # fmt: skip
# Results by "Class.name" or name; else what the docstring says.
RESULTS = {
    "Platform.get_devices": "list[Device]", "Device.create_sub_devices": "list[Device]", "Event.wait": "None",
    "NannyEvent.wait": "None", "Event.get_profiling_info": "int", "Event.set_callback": "None",
    "UserEvent.set_status": "None", "CommandQueue.flush": "None", "CommandQueue.finish": "None",
    "CommandQueue.__enter__": "Self", "Program.build": "Self", "Program.compile": "None", "Program.kind": "int",
    "Program.all_kernels": "list[Kernel]", "Program.__getattr__": "Kernel", "Kernel.__call__": "Event",
    "Kernel.set_arg": "None", "Kernel.set_args": "None", "Kernel.set_scalar_arg_dtypes": "None",
    "Kernel.set_arg_types": "None", "Kernel.clone": "Kernel", "Kernel.capture_call": "None",
    "Kernel.context_address": "int", "MemoryObject.release": "None", "Buffer.get_sub_region": "Buffer",
    "Buffer.__getitem__": "Buffer", "MemoryObjectHolder.context_address": "int", "MemoryMap.release": "Event",
    "MemoryObjectHolder.get_host_array": "np.ndarray[Any, Any]", "SVMMap.release": "Event",
    "SVMAllocation.bind_to_queue": "None", "SVMAllocation.unbind_from_queue": "None",
    "SVMAllocation.enqueue_release": "Event", "SVMAllocation.release": "None", "SVMPointer.map": "SVMMap",
    "SVMPointer.map_ro": "SVMMap", "SVMPointer.map_rw": "SVMMap", "SVMPointer.as_buffer": "Buffer",
    "Error.is_out_of_memory": "bool", "Array.get": "np.ndarray[Any, Any]", "Array.set": "None",
    "Array.get_async": "tuple[np.ndarray[Any, Any], Event]", "Array.map_to_host": "np.ndarray[Any, Any]",
    "Array.setitem": "None", "Array.add_event": "None", "Array.finish": "None", "Array.__len__": "int",
    "Array.__iter__": "Iterator[Array]", "Array.__hash__": "int", "Array.__bool__": "bool", "Array.__str__": "str",
    "Array.__getitem__": "Array", "Array.__setitem__": "None", "ElementwiseKernel.__call__": "Event",
    "ElementwiseKernel.get_kernel": "tuple[Kernel, list[Any]]", "GenericScanKernel.__call__": "Event",
    "MemoryPool.bin_number": "int", "MemoryPool.alloc_size": "int", "MemoryPool.free_held": "None",
    "MemoryPool.stop_holding": "None", "PooledBuffer.release": "None", "PooledSVM.release": "None",
    "PooledSVM.bind_to_queue": "None", "PooledSVM.unbind_from_queue": "None", "get_platforms": "list[Platform]",
    "choose_devices": "list[Device]", "create_some_context": "Context", "context": "Context", "queue": "CommandQueue",
    "get_cl_header_version": "tuple[int, int]", "have_gl": "bool", "link_program": "Program",
    "create_program_with_built_in_kernels": "Program", "create_image": "Image", "image_from_array": "Image",
    "get_supported_image_formats": "list[ImageFormat]", "unload_platform_compiler": "None", "wait_for_events": "None",
    "enqueue_map_buffer": "tuple[np.ndarray[Any, Any], Event]", "svm_empty": "np.ndarray[Any, Any]",
    "enqueue_map_image": "tuple[np.ndarray[Any, Any], Event, tuple[int, int], tuple[int, int]]",
    "get_elwise_kernel": "Kernel", "complex_dtype_to_name": "str", "is_spirv": "bool", "bitlog2": "int",
    "clear_first_arg_caches": "None", "frexp": "tuple[Array, Array]", "modf": "tuple[Array, Array]",
    "Random123GeneratorBase.uniform": "Array", "Random123GeneratorBase.normal": "Array", "rand": "Array",
    "fill_rand": "None", "multi_take": "list[Array]", "multi_put": "list[Array]", "multi_take_put": "list[Array]",
}  # fmt: skip
ARRAYS = """to_device empty zeros empty_like zeros_like arange as_strided concatenate diff dot hstack if_positive
logical_and logical_not logical_or maximum minimum reshape stack subset_dot subset_max subset_min subset_sum sum take
transpose vdot max min all any""".split()
# Attributes by "Class.name"; those of queries follow from the tables.
ATTRIBUTES = {
    "Context.devices": "list[Device]", "Context.properties": "Any", "Program.devices": "list[Device]",
    "Program.context": "Context", "Program.binaries": "list[bytes]", "Kernel.context": "Context",
    "Kernel.program": "Program", "Kernel.function_name": "str", "Kernel.attributes": "str",
    "CommandQueue.context": "Context", "CommandQueue.device": "Device", "CommandQueue.properties_array": "list[int]",
    "Event.command_queue": "CommandQueue", "Event.context": "Context", "Event.profile": "Any",
    "MemoryObject.context": "Context", "MemoryObject.host_ptr": "Any", "MemoryObject.associated_memobject": "Any",
    "MemoryObject.hostbuf": "Any", "Device.platform": "Platform", "Device.parent_device": "Device | None",
    "Sampler.context": "Context", "Error.routine": "str", "Error.code": "int", "Error.what": "str",
    "LocalMemory.size": "int", "Holder.int_ptr": "int", "SVMPointer.svm_ptr": "int | None",
    "SVMPointer.size": "int | None", "SVM.svm_ptr": "int | None", "SVM.size": "int | None",
    "Array.shape": "tuple[int, ...]", "Array.strides": "tuple[int, ...]", "Array.dtype": "np.dtype[Any]",
    "Array.queue": "CommandQueue | None", "Array.context": "Context", "Array.events": "list[Event]",
    "Array.allocator": "Callable[[int], Any] | None", "Array.ndim": "int", "Array.size": "int", "Array.nbytes": "int",
    "Array.itemsize": "int", "Array.base_data": "Any", "Array.data": "Any", "Array.offset": "int",
    "Array.T": "Array", "Array.real": "Array", "Array.imag": "Array", "Array.flags": "Any",
}  # fmt: skip
KINDS = {"t": "str", "b": "bool", "raw": "bytes", "v": "list[NameVersion]"}
SPECIAL = """__init__ __call__ __enter__ __exit__ __iter__ __len__ __getitem__ __setitem__ __bool__ __str__ __getattr__
__neg__ __abs__ __invert__ __pos__""".split()
BINARY = "add sub mul truediv floordiv mod pow and or xor lshift rshift lt le gt ge eq ne"
_bound = {"self", "cls"}


def kinds_of(name):
    """Types of a class's attributes that queries answer, from the tables of the package."""
    from unisono.opencl._objects import constants, images, memory, platforms, programs, queues

    tables = {
        "Platform": (constants.platform_info, platforms.Platform._queries[1]),
        "Device": (constants.device_info, platforms._device_kinds),
        "Context": (constants.context_info, {}),
        "CommandQueue": (constants.command_queue_info, {}),
        "Event": (constants.event_info, queues.Event._queries[1]),
        "Program": (constants.program_info, programs._program_kinds),
        "Kernel": (constants.kernel_info, {}),
        "MemoryObject": (constants.mem_info, memory._kinds),
        "Sampler": (constants.sampler_info, images.Sampler._queries[1]),
    }
    if name not in tables:
        return {}
    names, kinds = tables[name]
    return {
        key.lower(): _type_of(kinds.get(number, "u"))
        for key, number in vars(names).items()
        if isinstance(number, int) and not key.startswith("_")
    }


def _type_of(kind):
    if isinstance(kind, type):
        return kind.__name__
    if isinstance(kind, list):
        return f"list[{kind[0].__name__}]"
    return "list[int]" if kind[0] == "*" else KINDS.get(kind, "int")


def _parameter(p, where):
    text = "Any" if where == "__getitem__" else PARAMETERS.get(p.name, "Any")
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        return f"{'*' if p.kind is p.VAR_POSITIONAL else '**'}{p.name}: Any"
    if p.default is p.empty:
        return f"{p.name}: {text}"
    if isinstance(p.default, bool):
        text = "bool"
    if p.default is None or isinstance(p.default, type):
        text = text if text == "Any" or "None" in text else f"{text} | None"
    return f"{p.name}: {text} = ..."


def _parameters(function, is_method=False):
    parts, star = [], False
    found = list(inspect.signature(function).parameters.values())
    for k, p in enumerate(found):
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
        parts.append(
            p.name
            if is_method and k == 0 and p.name in _bound
            else _parameter(p, function.__name__)
        )
        last = k + 1 == len(found) or found[k + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and last:
            parts.append("/")
    return ", ".join(parts)


def _result(name, function, owners=(), module=""):
    for owner in owners:
        if found := RESULTS.get(f"{owner}.{name}"):
            return found
    if not owners and (found := RESULTS.get(name)):
        return found
    if owners and name == "__init__" or name in ("__exit__", "__setitem__"):
        return "None"
    if name.startswith("enqueue_"):
        return "Event"
    if module.endswith((".array", ".clmath")) and not owners:
        return "Array" if name in ARRAYS or module.endswith(".clmath") else "Any"
    if "Array" in owners:
        return "Array"
    said = re.search(r"Returns\n-+\n(\w+)\n", inspect.getdoc(function) or "")
    return (
        said[1]
        if said and said[1] in ("Event", "Array", "Kernel", "Program", "int", "bool")
        else "Any"
    )


def _base_names(kind, known):
    names = [b.__name__ for b in kind.__bases__ if b is not object]
    outer = {"MemoryError": "builtins.MemoryError", "RuntimeError": "builtins.RuntimeError"}
    return (
        [
            outer.get(b.__name__, b.__name__) if b.__module__ == "builtins" else b.__name__
            for b in kind.__bases__
            if b is not object and (b.__module__ == "builtins" or b.__name__ in known)
        ]
        if names
        else []
    )


def class_lines(name, kind, known):
    """A class with its bases and members."""
    if getattr(kind, "_is_bitfield", None) is not None:  # constants
        lines = [f"class {name}:"]
        lines += [
            f"    {k}: int" for k, v in vars(kind).items() if isinstance(v, int) and k[0] != "_"
        ]
        return [
            *lines,
            "    @classmethod",
            "    def to_string(cls, value: int, default_format: str | None = ...) -> str: ...",
        ]
    bases = _base_names(kind, known)
    text = ", ".join(bases)
    lines = [f"class {name}({text}):" if bases else f"class {name}:"]
    owners = [c.__name__ for c in kind.__mro__]
    # Members of bases without a name in the module count as the class's own.
    hidden = [
        c
        for c in kind.__mro__[1:-1]
        if c.__name__ not in known and c.__module__.startswith("unisono")
    ]
    members = {k: v for c in [*reversed(hidden), kind] for k, v in vars(c).items()}
    types = {**kinds_of(name)}
    for key, text in ATTRIBUTES.items():
        owner, _, member = key.partition(".")
        if owner == name or owner in [h.__name__ for h in hidden]:
            types[member] = text
    for member in sorted(types):
        lines += ["    @property", f"    def {member}(self) -> {types[member]}: ..."]
    for member in sorted(members):
        value = members[member]
        if member in types or member.startswith("_") and member not in SPECIAL:
            continue
        if isinstance(value, (classmethod, staticmethod)):
            function = value.__func__
            lines.append(f"    @{type(value).__name__}")
            result = "Self" if isinstance(value, classmethod) else _result(member, function, owners)
            lines.append(f"    def {member}({_parameters(function, True)}) -> {result}: ...")
        elif inspect.isfunction(value):
            text = _parameters(value, True)
            lines.append(f"    def {member}({text}) -> {_result(member, value, owners)}: ...")
        elif not callable(value) or isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
    if name == "Array":
        for op in BINARY.split():
            ignore = "  # type: ignore[override]" if op in ("eq", "ne") else ""
            lines.append(f"    def __{op}__(self, other: Any, /) -> Array: ...{ignore}")
            if f"__r{op}__" in members:
                lines.append(f"    def __r{op}__(self, other: Any, /) -> Array: ...")
    return lines if len(lines) > 1 else [lines[0] + " ..."]


def page(module):
    """Text of the stub of `unisono.opencl` or one of its modules."""
    is_top = module.__name__ == "unisono.opencl"
    top = importlib.import_module("unisono.opencl")
    own, classes = [], {}
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        if inspect.ismodule(value) or home in ("collections.abc", "typing"):
            continue
        if inspect.isclass(value) and not is_top and getattr(top, name, None) is value:
            continue
        if (
            inspect.isfunction(value)
            and home != module.__name__
            and not home.startswith("unisono.opencl")
        ):
            continue
        if inspect.isclass(value) and not home.startswith("unisono"):
            continue
        own.append((name, value))
        if inspect.isclass(value):
            classes[name] = value
    bases = {
        n
        for n in dir(top)
        if getattr(getattr(top, n), "__module__", "").startswith("unisono")
        and inspect.isclass(getattr(top, n))
    }
    others = {} if is_top else _classes_elsewhere(module)
    local = {n: v for n, v in classes.items() if n not in others}
    known = bases | set(classes) | {"DeviceError"}
    lines = []
    for name, value in own:
        if name in others:
            continue
        if inspect.isclass(value):
            lines += class_lines(name, value, known)
        elif inspect.isroutine(value):
            text = _parameters(value)
            lines.append(f"def {name}({text}) -> {_result(name, value, (), module.__name__)}: ...")
        elif name == "WaitList":
            lines.append("WaitList: TypeAlias = Sequence[Event] | None")
        elif name == "CtxFactory":
            lines.append("CtxFactory: TypeAlias = Callable[[], Context]")
        else:
            lines.append(f"{name}: Any")
    text = "\n".join(lines)
    imports = []
    if is_top:
        imports += [f"from . import {m} as {m}" for m in MODULES]
        imports += ["from .._engine import DeviceError", "import builtins"]
        text += "\ndef __getattr__(name: str) -> Any: ..."
    else:
        for name in sorted(bases):
            if name not in local and re.search(rf"\b{name}\b", text):
                imports.append(f"from . import {name}")
        for name, home in sorted(others.items()):
            imports.append(f"from .{home} import {name} as {name}")
        if "Array" not in local and "Array" not in others and re.search(r"\bArray\b", text):
            imports.append("from .array import Array")
    return HEAD.format(module=module.__name__) + "\n".join(imports) + "\n\n" + text + "\n"


def _classes_elsewhere(module):
    """Classes that a module shows and that another module's stub defines."""
    first = {}
    for name in MODULES:
        other = importlib.import_module(f"unisono.opencl.{name}")
        for key, value in vars(other).items():
            if (
                inspect.isclass(value)
                and not key.startswith("_")
                and value.__module__.startswith("unisono")
            ):
                home = value.__module__.rpartition(".")[2]
                first.setdefault(key, home if home in MODULES else name)
    top = importlib.import_module("unisono.opencl")
    own = module.__name__.rpartition(".")[2]
    return {
        key: home
        for key, home in first.items()
        if home != own
        and getattr(module, key, None) is not None
        and getattr(top, key, None) is not getattr(module, key)
    }


def pages(home):
    """Files and their texts."""
    yield home / "opencl/__init__.pyi", page(importlib.import_module("unisono.opencl"))
    for name in MODULES:
        yield home / f"opencl/{name}.pyi", page(importlib.import_module(f"unisono.opencl.{name}"))
