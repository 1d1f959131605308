"""Programs of OpenCL C: their build, linking and binaries."""

import ctypes
import os
import threading
import warnings

from . import driver
from .constants import (
    program_build_info,
    program_info,
    program_kind,
    status_code,
)
from .driver import Error, RuntimeError, call, create, wrong
from .handles import Holder, address_array, decode, texts_of
from .platforms import Context, Device
from .tables import add_attributes


class CompilerWarning(UserWarning):
    """A program was built, and the compiler said something."""


class RepeatedKernelRetrieval(UserWarning):
    """Never issued: a program keeps its kernels. Defined so that filters may name it."""


def _split(options):
    """Options as a list of texts."""
    if isinstance(options, (str, bytes)):
        options = [options]
    return [o.decode() if isinstance(o, bytes) else str(o) for o in options]


def _include_folder():
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cl")


class Program(Holder):
    """OpenCL C, or binaries of it.

    Parameters
    ----------
    context : Context
    src : str or bytes
        OpenCL C, or SPIR-V as bytes.
    devices, binaries : list
        Instead of `src`: devices, and what `binaries` of a built program had for them.

    Attributes
    ----------
    name of a kernel
        The `Kernel`.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl
    >>> try:
    ...     context = cl.create_some_context(interactive=False)
    ...     queue = cl.CommandQueue(context)
    ...     program = cl.Program(
    ...         context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
    ...     ).build()
    ...     data = numpy.ones(4, numpy.float32)
    ...     x = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    ...     event = program.twice(queue, data.shape, None, x)
    ...     event = cl.enqueue_copy(queue, data, x)
    ...     assert data.tolist() == [2, 2, 2, 2]
    ... except cl.Error:
    ...     pass
    """

    _retain, _release = "clRetainProgram", "clReleaseProgram"
    _source = None
    _options = ()  # of the last build
    _kind = program_kind.UNKNOWN

    def __init__(self, context, src, binaries=None):
        if not isinstance(context, Context):
            raise TypeError(f"Program: expected a Context; got {type(context).__name__}")
        self._context, self._kernels, self._lock = context, {}, threading.Lock()
        if binaries is not None:
            self._address, self._kind = (
                _of_binaries(context, list(src), list(binaries)),
                program_kind.BINARY,
            )
        elif isinstance(src, bytes) and src[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            self._address, self._kind = (
                create("clCreateProgramWithIL", context.int_ptr, src, len(src)),
                program_kind.IL,
            )
        elif isinstance(src, (str, bytes)):
            text = src.encode() if isinstance(src, str) else src
            texts, lengths = (ctypes.c_char_p * 1)(text), (ctypes.c_size_t * 1)(len(text))
            self._address = create("clCreateProgramWithSource", context.int_ptr, 1, texts, lengths)
            self._source, self._kind = text.decode(), program_kind.SOURCE
        else:
            raise TypeError(
                f"Program: expected OpenCL C as a str, or devices and binaries; got {type(src).__name__}"
            )

    @classmethod
    def _of(cls, address):
        self = super()._of(address)
        self._kernels, self._lock = {}, threading.Lock()
        return self

    def kind(self):
        """One of `program_kind`."""
        return self._kind

    def build(self, options=(), devices=None, cache_dir=None):
        """Compile and link.

        Parameters
        ----------
        options : str or list of str
            For the compiler; those of the variable ``PYOPENCL_BUILD_OPTIONS`` come behind them.
        devices : list of Device, optional
            By default the context's.

        Returns
        -------
        Program
            Itself.

        Raises
        ------
        RuntimeError
            If the compiler finds mistakes; the message has its log.
        """
        words = [*_split(options), *os.environ.get("PYOPENCL_BUILD_OPTIONS", "").split()]
        self._options = words
        text = " ".join(
            [*map(_quoted, words), f"-I {_quoted_path(_include_folder())}", "-cl-kernel-arg-info"]
        )
        count, ids = _devices(devices)
        code = driver.function("clBuildProgram")(
            self.int_ptr, count, ids, text.encode(), None, None
        )
        self._finish("clBuildProgram", code, devices)
        return self

    def compile(self, options=(), devices=None, headers=()):
        """Compile without linking, for `link_program`.

        Parameters
        ----------
        options, devices
            As for `build`.
        headers : list of (str, Program)
            What ``#include`` finds.
        """
        text = " ".join([*map(_quoted, _split(options)), "-cl-kernel-arg-info"]).encode()
        count, ids = _devices(devices)
        programs = address_array([p for _, p in headers]) if headers else None
        names = (
            (ctypes.c_char_p * len(headers))(*[n.encode() for n, _ in headers]) if headers else None
        )
        code = driver.function("clCompileProgram")(
            self.int_ptr, count, ids, text, len(headers), programs, names, None, None
        )
        self._finish("clCompileProgram", code, devices)
        return self

    def _finish(self, routine, code, devices):
        logs = [] if self._kind == program_kind.BINARY and not code else self._logs(devices)
        if code:
            said = "".join(f"\n\nBuild on {d!r}:\n\n{log}" for d, log in logs)
            name = status_code.to_string(code, "unknown error %d")
            raise RuntimeError(f"{routine} failed: {name}{said}", code, routine)
        said = "\n".join(
            f"Build on {d!r} succeeded, but said:\n\n{log}" for d, log in logs if log.strip()
        )
        if said and os.environ.get("PYOPENCL_COMPILER_OUTPUT", "0") not in ("0", ""):
            warnings.warn(said, CompilerWarning, stacklevel=3)
        elif said:
            warnings.warn(
                "The compiler said something; set PYOPENCL_COMPILER_OUTPUT=1 to see it.",
                CompilerWarning,
                stacklevel=3,
            )

    def _logs(self, devices):
        rows = []
        for d in devices or self.devices:
            try:
                rows.append((d, self.get_build_info(d, program_build_info.LOG)))
            except Error:
                rows.append((d, "(the driver has no log)"))
        return rows

    def get_info(self, param):
        """What the driver answers to a query, one of `program_info`."""
        if param == program_info.BINARIES:
            return self._binaries()
        if param == program_info.CONTEXT:
            return decode(driver.answer("clGetProgramInfo", self.int_ptr, param), Context)
        if param == program_info.DEVICES:
            return decode(driver.answer("clGetProgramInfo", self.int_ptr, param), [Device])
        data = driver.answer("clGetProgramInfo", self.int_ptr, param)
        return decode(data, _program_kinds.get(param, "u"))

    def _binaries(self):
        sizes = self.get_info(program_info.BINARY_SIZES)
        parts = [ctypes.create_string_buffer(max(n, 1)) for n in sizes]
        table = (ctypes.c_void_p * len(parts))(*[ctypes.addressof(p) for p in parts])
        call(
            "clGetProgramInfo",
            self.int_ptr,
            program_info.BINARIES,
            ctypes.sizeof(table),
            table,
            None,
        )
        return [p.raw[:n] for p, n in zip(parts, sizes, strict=True)]

    def get_build_info(self, device, param):
        """What the driver answers about the build for a device, one of `program_build_info`."""
        kinds = {
            program_build_info.OPTIONS: "t",
            program_build_info.LOG: "t",
            program_build_info.STATUS: "i",
        }
        kinds[program_build_info.GLOBAL_VARIABLE_TOTAL_SIZE] = "z"
        if not isinstance(device, Device):
            raise TypeError(f"get_build_info: expected a Device; got {type(device).__name__}")
        data = driver.answer("clGetProgramBuildInfo", self.int_ptr, device.int_ptr, param)
        return decode(data, kinds.get(param, "u"))

    def _is_built_for(self, device):
        """Whether the last build for a device made something of it."""
        return self.get_build_info(device, program_build_info.STATUS) == 0

    def all_kernels(self):
        """All kernels of the built program.

        Returns
        -------
        list of Kernel
        """
        from .kernels import Kernel

        count = ctypes.c_uint32()
        call("clCreateKernelsInProgram", self.int_ptr, 0, None, ctypes.byref(count))
        made = (ctypes.c_void_p * count.value)()
        call("clCreateKernelsInProgram", self.int_ptr, count, made, None)
        return [Kernel._of(k) for k in made]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"Program has no attribute {name!r}")
        found = self._kernels.get(name)
        if found is None:
            try:
                from .kernels import Kernel

                found = Kernel(self, name)
            except Error as error:
                if error.code == status_code.INVALID_PROGRAM_EXECUTABLE:
                    raise
                names = ", ".join(sorted(k.function_name for k in self.all_kernels()))
                raise AttributeError(
                    f"Program: '{name}' is neither an attribute nor a kernel; its kernels are: {names}"
                ) from None
            self._kernels[name] = found
        return found


_program_kinds = texts_of(
    program_info, "t SOURCE KERNEL_NAMES, *z BINARY_SIZES, z NUM_KERNELS, raw IL,"
    "b SCOPE_GLOBAL_CTORS_PRESENT SCOPE_GLOBAL_DTORS_PRESENT"
)  # fmt: skip
add_attributes(Program, program_info)


def _devices(devices):
    return (0, None) if devices is None else (len(devices), address_array(devices))


def _quoted(option):
    # One option may be several words; only those with a path need quotes.
    return option


def _quoted_path(path):
    return f'"{path}"' if " " in path else path


def _of_binaries(context, devices, binaries):
    if len(devices) != len(binaries):
        raise wrong(
            "Program", "INVALID_VALUE",
            f"expected a binary for each device; got {len(devices)} devices and {len(binaries)} binaries",
        )  # fmt: skip
    lengths = driver.sizes([len(b) for b in binaries])
    texts = (ctypes.c_char_p * len(binaries))(*binaries)
    states = (ctypes.c_int32 * len(binaries))()
    return create(
        "clCreateProgramWithBinary", context.int_ptr, len(devices), address_array(devices), lengths, texts, states
    )  # fmt: skip


def link_program(context, programs, options=(), devices=None):
    """Link compiled programs.

    Parameters
    ----------
    context : Context
    programs : list of Program
    options : str or list of str
    devices : list of Device, optional

    Returns
    -------
    Program
    """
    text = " ".join(_split(options or ())).encode()
    count, ids = _devices(devices)
    code = ctypes.c_int32()
    made = driver.function("clLinkProgram")(
        context.int_ptr, count, ids, text, len(programs), address_array(programs), None, None, ctypes.byref(code)
    )  # fmt: skip
    if not made:
        raise driver.error_of(code.value, "clLinkProgram")
    program = Program._of(made)
    program._finish("clLinkProgram", code.value, devices)
    return program


def create_program_with_built_in_kernels(context, devices, kernel_names):
    """Program of kernels that the devices have built in; names with semicolons between."""
    if not isinstance(kernel_names, str):
        kernel_names = ";".join(kernel_names)
    return Program._of(
        create(
            "clCreateProgramWithBuiltInKernels",
            context.int_ptr,
            len(devices),
            address_array(devices),
            kernel_names.encode(),
        )  # fmt: skip
    )
