"""Kernels of programs, and launches whose arguments are checked against the declared C types."""

import ctypes
import functools
import math
import operator
import os
import threading
import weakref

import numpy as np

from ... import _engine
from . import driver
from .arguments import parameter_of
from .constants import (
    device_type,
    kernel_arg_info,
    kernel_info,
    kernel_sub_group_info,
    kernel_work_group_info,
    program_info,
    status_code,
)
from .driver import call, create, wrong
from .handles import Holder, decode
from .platforms import Context, Device
from .programs import Program
from .queues import CommandQueue, Event, waits
from .tables import add_attributes


class Kernel(_engine._DriverKernel, Holder):
    """A kernel of a built program.

    Parameters
    ----------
    program : Program
    name : str

    Notes
    -----
    ``kernel(queue, global_size, local_size, *args)`` launches it: sizes are tuples of up to three numbers, `local_size`
    may be None, and the global size has to be a multiple of it. Arguments are buffers, images, samplers, arrays of
    unisono on the device, `LocalMemory`, None for a null pointer, and numbers, which are converted to the declared C type
    if their value fits.
    """

    _retain, _release = "clRetainKernel", "clReleaseKernel"
    _parameters, _last = None, ()

    def __init__(self, program, name):
        if not isinstance(program, Program) or not isinstance(name, str):
            raise TypeError(
                f"Kernel: expected a Program and a name; got {type(program).__name__} and {type(name).__name__}"
            )
        if not any(program._is_built_for(d) for d in program.get_info(program_info.DEVICES)):
            raise wrong(
                "Kernel", "INVALID_PROGRAM_EXECUTABLE", "the program is not built; call build()"
            )
        self._address = create("clCreateKernel", program.int_ptr, name.encode())
        self._program, self._name = program, name

    @property
    def function_name(self):
        """Its name in the program."""
        if "_name" not in self.__dict__:
            self._name = self.get_info(kernel_info.FUNCTION_NAME)
        return self._name

    def context_address(self):
        """Address of its context, asked once."""
        found = self.__dict__.get("_context_address")
        if found is None:
            found = self._context_address = self.context.int_ptr
        return found

    @functools.cached_property
    def num_args(self):
        """Number of its parameters."""
        return self.get_info(kernel_info.NUM_ARGS)

    def get_info(self, param):
        """What the driver answers to a query, one of `kernel_info`."""
        kinds = {
            kernel_info.FUNCTION_NAME: "t",
            kernel_info.ATTRIBUTES: "t",
            kernel_info.CONTEXT: Context,
            kernel_info.PROGRAM: Program,
        }
        return decode(driver.answer("clGetKernelInfo", self.int_ptr, param), kinds.get(param, "u"))

    def get_arg_info(self, arg_index, param):
        """What the driver answers about a parameter, one of `kernel_arg_info`."""
        kinds = {
            kernel_arg_info.TYPE_NAME: "t",
            kernel_arg_info.NAME: "t",
            kernel_arg_info.TYPE_QUALIFIER: "U",
        }
        data = driver.answer("clGetKernelArgInfo", self.int_ptr, arg_index, param)
        return decode(data, kinds.get(param, "u"))

    def get_work_group_info(self, param, device):
        """What the driver answers about work-groups on a device, one of `kernel_work_group_info`."""
        what = kernel_work_group_info
        kinds = {
            what.WORK_GROUP_SIZE: "z",
            what.PREFERRED_WORK_GROUP_SIZE_MULTIPLE: "z",
            what.LOCAL_MEM_SIZE: "U",
            what.PRIVATE_MEM_SIZE: "U",
            what.COMPILE_WORK_GROUP_SIZE: "*z",
            what.GLOBAL_WORK_SIZE: "*z",
        }
        if not isinstance(device, Device):
            raise TypeError(f"get_work_group_info: expected a Device; got {type(device).__name__}")
        data = driver.answer("clGetKernelWorkGroupInfo", self.int_ptr, device.int_ptr, param)
        return decode(data, kinds.get(param, "u"))

    def get_sub_group_info(self, device, param, input_value=None):
        """What the driver answers about sub-groups on a device, one of `kernel_sub_group_info`."""
        values = [input_value] if isinstance(input_value, int) else list(input_value or ())
        given = driver.sizes(values) if values else None
        count = 3 if param == kernel_sub_group_info.LOCAL_SIZE_FOR_SUB_GROUP_COUNT else 1
        made, size = (ctypes.c_size_t * count)(), ctypes.c_size_t()
        call(
            "clGetKernelSubGroupInfo", self.int_ptr, device.int_ptr, param, 8 * len(values), given,
            ctypes.sizeof(made), made, ctypes.byref(size),
        )  # fmt: skip
        return list(made) if count == 3 else made[0]

    def clone(self):
        """A copy with the arguments that were set."""
        return Kernel._of(create("clCloneKernel", self.int_ptr))

    def set_scalar_arg_dtypes(self, scalar_arg_dtypes):
        """Types of the arguments: None for memory, else a dtype; numbers are converted to it."""
        self.set_arg_types(scalar_arg_dtypes)

    def set_arg_types(self, arg_types):
        """The same as `set_scalar_arg_dtypes`."""
        types = tuple(arg_types)
        if len(types) != self.num_args:
            raise wrong(
                f"kernel {self.function_name}", "INVALID_KERNEL_ARGS",
                f"expected {self.num_args} types; got {len(types)}",
            )  # fmt: skip
        known = self._known_parameters()
        self._take(p.as_given(t) for p, t in zip(known, types, strict=True))

    def _known_parameters(self):
        found = self._parameters
        if found is None:
            self._lock = threading.Lock()
            found = self._take(parameter_of(self, i) for i in range(self.num_args))
        return found

    def _take(self, parameters):
        """Has these parameters from now on, of which no argument is set."""
        found = tuple(parameters)
        self._last = [None] * len(found)
        # What the engine needs to see which arguments stay as they are.
        self._setter = (
            driver.function_address("clSetKernelArg"),
            self._address,
            found,
            "".join(p.letter for p in found).encode(),
            tuple(getattr(p, "_type", None) for p in found),
            self._last,
        )
        self._parameters = found
        return found

    def set_arg(self, index, arg):
        """Set one argument."""
        parameters = self._parameters or self._known_parameters()
        if not 0 <= index < len(parameters):
            raise wrong(
                f"kernel {self.function_name}", "INVALID_ARG_INDEX",
                f"it has {len(parameters)} parameters; got index {index}",
            )  # fmt: skip
        _engine._set_argument(self._setter, index, arg)

    def set_args(self, *args):
        """Set all arguments."""
        parameters = self._known_parameters()
        if len(args) != len(parameters):
            names = ", ".join(f"{p.type_name} {p.name}" for p in parameters)
            raise wrong(
                f"kernel {self.function_name}", "INVALID_KERNEL_ARGS",
                f"expected {len(parameters)} arguments: {names}; got {len(args)}",
            )  # fmt: skip
        _engine._set_arguments(self._setter, args)

    def __call__(
        self, queue, global_size, local_size, *args, global_offset=None, g_times_l=False, allow_empty_ndrange=False,
        wait_for=None,
    ):  # fmt: skip
        """Launch it; the Event of that."""
        if global_offset is None and not g_times_l:
            event = self._launch(queue, global_size, local_size, args, wait_for)
            if event is not None:
                return event
        self._known_parameters()
        with self._lock:  # arguments belong to the kernel, not to the launch
            self.set_args(*args)
            return enqueue_nd_range_kernel(
                queue,
                self,
                global_size,
                local_size,
                global_offset,
                wait_for,
                g_times_l,
                allow_empty_ndrange,
            )

    def _launch(self, queue, global_size, local_size, args, wait_for=None):
        """The Event of a plain launch; None for what has to be looked at."""
        if self._parameters is None:
            self._known_parameters()
        event = _launch_kernel(Event, queue, self, global_size, local_size, wait_for, args)
        if type(event) is int:
            raise _launch_error(event, self, queue, global_size, local_size)
        return event

    def _require_arguments(self):
        """Refuse objects that are gone since they were set: drivers keep none, and crash."""
        for parameter, last in zip(self._parameters or (), self._last, strict=False):
            held = last() if isinstance(last, weakref.ref) else self
            if held is None or not held._address:
                raise wrong(
                    f"kernel {self.function_name}", "INVALID_KERNEL_ARGS",
                    f"what was set for {parameter.name} was released; set that argument again",
                )  # fmt: skip

    def capture_call(self, output_file, queue, global_size, local_size, *args, **options):
        """Write a program that launches the kernel by itself, with the buffers' contents of now.

        Parameters
        ----------
        output_file : str or file
            Where the program is written.
        queue, global_size, local_size, *args, **options
            As for a call.

        Raises
        ------
        RuntimeError
            If the kernel's OpenCL C is not known, or an argument is neither a buffer nor a number.
        """
        from .capture import captured

        text = captured(self, queue, global_size, local_size, args, options)
        if isinstance(output_file, (str, os.PathLike)):
            with open(output_file, "w") as file:
                file.write(text)
        else:
            output_file.write(text)

    def __repr__(self):
        return f"<unisono.opencl.Kernel '{self.function_name}'>"


add_attributes(Kernel, kernel_info)

_enqueue_kernel, _launch_kernel = _engine._enqueue_kernel, _engine._launch_kernel
_most_groups = 2**32 - 1  # beyond, PoCL ends the process
_size_arrays = (None, ctypes.c_size_t * 1, ctypes.c_size_t * 2, ctypes.c_size_t * 3)
_byref, _void = ctypes.byref, ctypes.c_void_p


def _sizes(name, values, least=1):
    """C array of sizes; drivers crash on numbers below the least."""
    if isinstance(values, (int, np.integer)):
        values = (values,)
    try:
        made = _size_arrays[len(values)](*values)
    except (TypeError, IndexError):
        values = tuple(values)
        if not 1 <= len(values) <= 3:
            raise wrong(
                "enqueue_nd_range_kernel", "INVALID_WORK_DIMENSION",
                f"{name} has one to three numbers; got {values}",
            ) from None  # fmt: skip
        made = _size_arrays[len(values)](*map(operator.index, values))
    if min(values) < least or max(values) >= 2**64:
        code = "INVALID_WORK_ITEM_SIZE" if "local" in name else "INVALID_GLOBAL_WORK_SIZE"
        raise wrong(
            "enqueue_nd_range_kernel",
            code,
            f"{name} has numbers from {least} on, below 2**64; got {tuple(values)}",
        )
    return made


def enqueue_nd_range_kernel(
    queue, kernel, global_work_size, local_work_size, global_work_offset=None, wait_for=None, g_times_l=False,
    allow_empty_ndrange=False,
):  # fmt: skip
    """Launch a kernel whose arguments are set.

    Parameters
    ----------
    queue : CommandQueue
    kernel : Kernel
    global_work_size : tuple of int
        Work-items along one to three dimensions.
    local_work_size : tuple of int or None
        Of a work-group; None lets the driver choose.
    global_work_offset : tuple of int, optional
    wait_for : list of Event, optional
    g_times_l : bool
        Whether the global size counts work-groups.
    allow_empty_ndrange : bool
        Whether a size of 0 launches nothing instead of raising.

    Returns
    -------
    Event

    Raises
    ------
    LogicError
        If a size is none that the device allows; the message names the limit.
    """
    if global_work_offset is None and not g_times_l:
        event = _enqueue_kernel(Event, queue, kernel, global_work_size, local_work_size, wait_for)
        if type(event) is int:
            raise _launch_error(event, kernel, queue, global_work_size, local_work_size)
        if event is not None:
            return event
    if not isinstance(kernel, Kernel):
        raise TypeError(f"enqueue_nd_range_kernel: expected a Kernel; got {type(kernel).__name__}")
    if not isinstance(queue, CommandQueue):
        raise TypeError(
            f"kernel {kernel.function_name}: expected a CommandQueue first; got {type(queue).__name__}"
        )
    shape = _sizes("the global size", global_work_size, 0 if allow_empty_ndrange else 1)
    local = None
    if local_work_size is not None:
        local = _sizes("the local size", local_work_size)
        if len(local) != len(shape):
            if not g_times_l or len(shape) > len(local):
                raise wrong(
                    f"kernel {kernel.function_name}", "INVALID_WORK_DIMENSION",
                    f"global and local size have the same number of dimensions; got {tuple(shape)} and {tuple(local)}",
                )  # fmt: skip
            shape = _size_arrays[len(local)](*shape, *[1] * (len(local) - len(shape)))
        if g_times_l:
            shape = _size_arrays[len(local)](*[g * n for g, n in zip(shape, local, strict=True)])
    offset = None
    if global_work_offset is not None:
        offset = _sizes("the global offset", global_work_offset, 0)
        if len(offset) != len(shape):
            raise wrong(
                f"kernel {kernel.function_name}", "INVALID_GLOBAL_OFFSET",
                f"global size and offset have the same number of dimensions; got {tuple(shape)} and {tuple(offset)}",
            )  # fmt: skip
    items = math.prod(shape)
    if items > _most_groups and queue.device.type & device_type.CPU:
        groups = items // (math.prod(local) if local else queue.device.max_work_group_size)
        if groups > _most_groups:
            raise wrong(
                f"kernel {kernel.function_name}", "INVALID_GLOBAL_WORK_SIZE",
                f"drivers for CPUs count work-groups up to {_most_groups}; got {groups}",
            )  # fmt: skip
    if allow_empty_ndrange and 0 in tuple(shape):
        from .queues import enqueue_marker

        return enqueue_marker(queue, wait_for)
    kernel._known_parameters()  # by which the next launch is quicker
    kernel._require_arguments()
    number, events = (0, None) if wait_for is None else waits(wait_for)
    made = _void()
    code = driver._functions["clEnqueueNDRangeKernel"](
        queue.int_ptr,
        kernel._address,
        len(shape),
        offset,
        shape,
        local,
        number,
        events,
        _byref(made),
    )
    if code:
        raise _launch_error(code, kernel, queue, tuple(shape), local and tuple(local))
    return Event._of(made.value)


def _launch_error(code, kernel, queue, shape, local):
    """What the driver did not like, with the limit."""
    device = queue.device
    what = ""
    name = status_code.to_string(code, "%d")
    if name == "INVALID_KERNEL_ARGS":
        what = "not all arguments are set; pass them to the call, or use set_args"
    elif local is not None:
        limit = device.max_work_group_size
        most = kernel.get_work_group_info(kernel_work_group_info.WORK_GROUP_SIZE, device)
        fixed = kernel.get_work_group_info(kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device)
        items = device.max_work_item_sizes
        product = int(np.prod(local))
        what = f"got global size {shape} and local size {local}"
        if any(g % n for g, n in zip(shape, local, strict=True) if n):
            what += "; the global size has to be a multiple of the local size"
        if product > limit:
            what += f"; the device's max_work_group_size is {limit}"
        elif product > most:
            what += f"; the kernel's WORK_GROUP_SIZE on this device is {most}"
        if any(n > m for n, m in zip(local, items, strict=False)):
            what += f"; the device's max_work_item_sizes are {tuple(items)}"
        if any(fixed) and tuple(fixed[: len(local)]) != local:
            what += f"; the kernel's reqd_work_group_size is {tuple(fixed)}"
    return driver.error_of(code, f"kernel {kernel.function_name}: clEnqueueNDRangeKernel", what)


def enqueue_task(queue, kernel, wait_for=None):
    """Launch a kernel of one work-item."""
    return enqueue_nd_range_kernel(queue, kernel, (1,), (1,), wait_for=wait_for)


def of_engine(array):
    """Buffer of an array of unisono on a device, as kernels take it."""
    from .memory import MemoryObject

    address, offset = _engine._lend_buffer(array)
    if offset:
        raise wrong(
            "kernel argument", "INVALID_VALUE",
            f"the array starts {offset} bytes into its buffer; pass a copy, or to_buffer and the offset",
        )  # fmt: skip
    return MemoryObject.from_int_ptr(address)
