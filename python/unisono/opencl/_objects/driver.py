"""OpenCL's C functions by ctypes, and the errors that they return.

The engine's own back end uses the same library, so that addresses of its objects are valid here.
"""

import builtins
import ctypes

from ... import _engine
from ..._engine import DeviceError
from .constants import status_code

# What each function takes: p an address, u uint32, i int32, z size_t, U uint64. Those in the second table return an
# object, and their code through a last argument.
_codes = """
clGetPlatformIDs upp  clGetPlatformInfo puzpp  clGetDeviceIDs pUupp  clGetDeviceInfo puzpp  clCreateSubDevices ppupp
clRetainDevice p  clReleaseDevice p  clRetainContext p  clReleaseContext p  clGetContextInfo puzpp
clRetainCommandQueue p  clReleaseCommandQueue p  clGetCommandQueueInfo puzpp  clRetainMemObject p  clReleaseMemObject p
clGetSupportedImageFormats pUuupp  clGetMemObjectInfo puzpp  clGetImageInfo puzpp  clRetainSampler p
clReleaseSampler p  clGetSamplerInfo puzpp  clRetainProgram p  clReleaseProgram p  clBuildProgram puppPP
clCompileProgram puppuppPP  clUnloadPlatformCompiler p  clGetProgramInfo puzpp  clGetProgramBuildInfo ppuzpp
clCreateKernelsInProgram pupp  clRetainKernel p  clReleaseKernel p  clSetKernelArg puzp  clGetKernelInfo puzpp
clGetKernelArgInfo puuzpp  clGetKernelWorkGroupInfo ppuzpp  clWaitForEvents up  clGetEventInfo puzpp  clRetainEvent p
clReleaseEvent p  clSetUserEventStatus pi  clSetEventCallback piPp  clGetEventProfilingInfo puzpp  clFlush p  clFinish p
clEnqueueReadBuffer ppuzzpupp  clEnqueueReadBufferRect ppupppzzzzpupp  clEnqueueWriteBuffer ppuzzpupp
clEnqueueWriteBufferRect ppupppzzzzpupp  clEnqueueFillBuffer pppzzzupp  clEnqueueCopyBuffer pppzzzupp
clEnqueueCopyBufferRect ppppppzzzzupp  clEnqueueReadImage ppuppzzpupp  clEnqueueWriteImage ppuppzzpupp
clEnqueueFillImage pppppupp  clEnqueueCopyImage ppppppupp  clEnqueueCopyImageToBuffer pppppzupp
clEnqueueCopyBufferToImage pppzppupp  clEnqueueUnmapMemObject pppupp  clEnqueueMigrateMemObjects pupUupp
clEnqueueNDRangeKernel ppupppupp  clEnqueueMarkerWithWaitList pupp  clEnqueueBarrierWithWaitList pupp
clSetMemObjectDestructorCallback pPp
clEnqueueSVMMemcpy puppzupp  clEnqueueSVMMemFill pppzzupp  clEnqueueSVMMap puUpzupp  clEnqueueSVMUnmap ppupp
clEnqueueSVMFree pupPpupp  clEnqueueSVMMigrateMem puppUupp  clSetKernelArgSVMPointer pup  clSetKernelExecInfo puzp
clGetKernelSubGroupInfo ppuzpzpp  clGetDeviceAndHostTimer ppp  clGetHostTimer pp  clGetPipeInfo puzpp
clSetDefaultDeviceCommandQueue ppp
"""
_objects = """
clCreateContext pupPpp  clCreateContextFromType pUPpp  clCreateCommandQueue ppUp  clCreateCommandQueueWithProperties pppp
clCreateBuffer pUzpp  clCreateSubBuffer pUupp  clCreateImage pUpppp  clCreateSampler puuup
clCreateProgramWithSource puppp  clCreateProgramWithBinary pupppPP  clCreateProgramWithBuiltInKernels puppp
clCreateProgramWithIL ppzp  clLinkProgram puppupPPp  clCreateKernel ppp  clCloneKernel pp  clCreateUserEvent pp
clEnqueueMapBuffer ppuUzzuppp  clEnqueueMapImage ppuUppppuppp  clCreatePipe pUuupp  clCreateSamplerWithProperties ppp
"""
_addresses = "clSVMAlloc pUzu  clSVMFree pp"

_types = {
    "p": ctypes.c_void_p,
    "P": ctypes.c_void_p,
    "u": ctypes.c_uint32,
    "i": ctypes.c_int32,
    "z": ctypes.c_size_t,
    "U": ctypes.c_uint64,
}
_functions = {}
_function_addresses = {}


class Error(DeviceError):
    """An OpenCL call that failed, or that was given what it does not take.

    Attributes
    ----------
    routine : str
        Name of the call.
    code : int
        One of `status_code`.
    what : str
    """

    def __init__(self, what, code=0, routine=""):
        super().__init__(what)
        self.what, self.code, self.routine = str(what), code, routine

    def is_out_of_memory(self):
        """Whether memory ran out on the device or the host."""
        return self.code in _memory_codes


class MemoryError(Error, builtins.MemoryError):
    """Memory ran out."""


class LogicError(Error):
    """The program asked for what OpenCL does not allow."""


class ArgumentError(LogicError, TypeError):
    """A kernel was called with another number of arguments than it has."""


class RuntimeError(Error):
    """The driver failed, or a program could not be built."""


_memory_codes = (
    status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    status_code.OUT_OF_RESOURCES,
    status_code.OUT_OF_HOST_MEMORY,
)


def error_of(code, routine, what=""):
    """The exception for a code."""
    kind = LogicError if code <= status_code.INVALID_VALUE else RuntimeError
    if code == status_code.MEM_OBJECT_ALLOCATION_FAILURE:
        kind = MemoryError
    name = status_code.to_string(code, "unknown error %d")
    return kind(f"{routine} failed: {name}" + (f" - {what}" if what else ""), code, routine)


def wrong(routine, name, what):
    """An error of ours, before the driver is asked: a LogicError if the program is wrong."""
    code = getattr(status_code, name)
    kind = LogicError if code <= status_code.INVALID_VALUE else RuntimeError
    if name == "INVALID_KERNEL_ARGS":
        kind = ArgumentError  # a TypeError too, as in PyOpenCL
    return kind(f"{routine}: {what} ({name})", code, routine)


def _load():
    """Fill the table of functions, at once: another thread may be asking."""
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError as error:
        raise Error(
            f"OpenCL: libOpenCL.so.1 cannot be loaded ({error}); install an OpenCL driver; see `python -m unisono doctor`"
        ) from None
    _engine._devices()  # in one thread: first calls of the loader and of drivers are not safe in several
    found = {}
    for table, result in (
        (_codes, ctypes.c_int32),
        (_objects, ctypes.c_void_p),
        (_addresses, ctypes.c_void_p),
    ):
        words = table.split()
        for name, letters in zip(words[::2], words[1::2], strict=True):
            try:
                function = getattr(library, name)
            except AttributeError:
                continue
            function.restype = result
            function.argtypes = [_types[letter] for letter in letters]
            found[name] = function
    _engine._set_driver_functions(
        *[
            ctypes.cast(found[name], ctypes.c_void_p).value
            for name in (
                "clEnqueueNDRangeKernel",
                "clWaitForEvents",
                "clReleaseEvent",
                "clEnqueueReadBuffer",
                "clEnqueueWriteBuffer",
                "clEnqueueCopyBuffer",
                "clEnqueueFillBuffer",
            )
        ]
    )
    _functions.update(found)
    return _functions


def function(name):
    """A function of the library; raises an Error where it has none of that name."""
    functions = _functions or _load()
    try:
        return functions[name]
    except KeyError:
        raise wrong(
            name, "INVALID_OPERATION", "the OpenCL library of this machine has no such function"
        ) from None


def function_address(name):
    """Address of a function of the library, asked once."""
    found = _function_addresses.get(name)
    if found is None:
        found = ctypes.cast(function(name), ctypes.c_void_p).value
        _function_addresses[name] = found
    return found


def call(name, *args):
    """Calls a function that returns a code; raises what it says."""
    try:
        code = function(name)(*args)
    except ctypes.ArgumentError as error:
        raise no_type(name, error) from None
    if code:
        raise error_of(code, name)


def no_type(name, error):
    """What is raised for an argument that the library cannot be given."""
    return TypeError(
        f"{name}: an argument has the wrong type; got {error}; give numbers and objects of OpenCL"
    )


def create(name, *args):
    """Calls a function that returns an object; the address of it."""
    code = ctypes.c_int32()
    try:
        made = function(name)(*args, ctypes.byref(code))
    except ctypes.ArgumentError as error:
        raise no_type(name, error) from None
    if code.value:
        raise error_of(code.value, name)
    return made


def answer(name, *args):
    """Bytes that a query gives: args are those before the size."""
    ask = function(name)
    size = ctypes.c_size_t()
    try:
        code = ask(*args, 0, None, ctypes.byref(size))
    except ctypes.ArgumentError as error:
        raise no_type(name, error) from None
    if code:
        raise error_of(code, name)
    if not size.value:
        return b""
    data = ctypes.create_string_buffer(size.value)
    code = ask(*args, size.value, data, None)
    if code:
        raise error_of(code, name)
    return data.raw


def addresses(items):
    """C array of the addresses of objects, and None for none."""
    return (ctypes.c_void_p * len(items))(*items) if items else None


def sizes(values):
    """C array of sizes."""
    return (ctypes.c_size_t * len(values))(*values)
