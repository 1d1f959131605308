"""`ElementwiseKernel`: a C statement for each element."""

import re
import threading

import numpy as np

from ._objects.c_types import (
    OtherArg,
    ScalarArg,
    VectorArg,
    declarations,
    dtype_to_ctype,
    get_arg_offset_adjuster_code,
    parse_arg_list,
    pass_arguments,
    preamble_of,
)
from ._objects.constants import device_type
from ._objects.programs import Program


def work_items(device, n):
    """(global, local) size of a loop over n elements that work-items share out."""
    limits = _limits.get(device)
    if limits is None:
        local = 64 if device.type & device_type.CPU else min(128, device.max_work_group_size)
        limits = _limits[device] = local, 64 * device.max_compute_units
    local, most = limits
    return (max(min(-(-n // local), most), 1) * local,), (local,)


_limits = {}  # by device: work-items of a group, and groups at most


_numbers = (int, float)
_one_each = "one each"  # the kernel whose work-items take an element each
_range = range  # which is the name of a parameter below


class ElementwiseKernel:
    """Runs a C statement for each index `i` of arrays of one size `n`.

    Parameters
    ----------
    context : Context
    arguments : str or list of Argument
        C declarators, for example ``"float *x, float a"``.
    operation : str
        The statement; several have semicolons between.
    name : str
    options : list of str
        For the compiler.
    preamble, loop_prep, after_loop : str
        C text before the kernel, before its loop, and behind it.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl, unisono.opencl.array
    >>> from unisono.opencl.elementwise import ElementwiseKernel
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     x = cl.array.arange(queue, 4, dtype=numpy.float32)
    ...     axpb = ElementwiseKernel(queue.context, "float *x, float a", "x[i] = a * x[i] + 1")
    ...     event = axpb(x, 3)
    ...     assert x.get().tolist() == [1, 4, 7, 10]
    ... except cl.Error:
    ...     pass
    """

    def __init__(self, context, arguments, operation, name="elwise_kernel", options=None, **kwargs):
        self.context, self.operation, self.name, self.options = (
            context,
            operation,
            name,
            options or [],
        )
        self.arguments = parse_arg_list(arguments, with_offset=True)
        if not any(isinstance(a, (VectorArg, OtherArg)) for a in self.arguments):
            raise RuntimeError("ElementwiseKernel: expected an array among the arguments")
        self._arrays = [k for k, a in enumerate(self.arguments) if isinstance(a, VectorArg)]
        self._texts = {key: kwargs.pop(key, "") for key in ("preamble", "loop_prep", "after_loop")}
        self.preamble = self._texts["preamble"]
        kwargs.pop("use_range", None)
        if kwargs:
            raise TypeError(f"ElementwiseKernel: unknown arguments: {', '.join(kwargs)}")
        self._kernels, self._lock = {}, threading.Lock()
        # For the short way: dtypes of the arrays, None for numbers; False where there is anything else.
        are_plain = all(
            type(a) is VectorArg or type(a) is ScalarArg and a.dtype.kind in "iuf"
            for a in self.arguments
        )
        self._plain = are_plain and tuple(
            a.dtype if type(a) is VectorArg else None for a in self.arguments
        )
        self._last = 0, None, None, 0  # the last launch's queue, shape, kernel with sizes, elements
        # Whether a work-item may take one element: nothing else happens in its loop.
        text = "\n".join([operation, *self._texts.values()])
        self._may_split = not (
            self._texts["loop_prep"].strip()
            or self._texts["after_loop"].strip()
            or re.search(r"\b(continue|break)\b", text)
        )

    def _source(self, use_range):
        texts, leave = self._texts, "continue"
        if use_range == _one_each:
            loop, leave = "long i = get_global_id(0); if (i < n)", "return"
            sizes = "long n"
        elif use_range:
            loop = (
                "for (long i = start + get_global_id(0) * step; step > 0 ? i < stop : i > stop;"
                " i += get_global_size(0) * step)"
            )
            sizes = "long start, long stop, long step"
        else:
            loop = "for (long i = get_global_id(0); i < n; i += get_global_size(0))"
            sizes = "long n"
        return f"""{preamble_of(self.arguments, text=texts["preamble"])}
#define PYOPENCL_ELWISE_CONTINUE {leave}
__kernel void {self.name}({declarations(self.arguments)}, {sizes}) {{
{get_arg_offset_adjuster_code(self.arguments)}
int lid = get_local_id(0);
int gsize = get_global_size(0);
int work_group_start = get_local_size(0) * get_group_id(0);
{texts["loop_prep"]};
{loop}
{{
{self.operation};
}}
{texts["after_loop"]};
}}
"""

    def get_kernel(self, use_range=False):
        """The Kernel and the arguments."""
        if use_range not in self._kernels:
            with self._lock:
                if use_range not in self._kernels:
                    program = Program(self.context, self._source(use_range)).build(self.options)
                    self._kernels[use_range] = getattr(program, self.name)
        return self._kernels[use_range], self.arguments

    def _shape(self, device, count):
        """The kernel for all of so many elements, its global and its local size."""
        if not self._may_split or not device.type & device_type.CPU:
            return self.get_kernel()[0], *work_items(device, count)
        # Neighbours lie in one group, which compilers for CPUs make vectors of.
        local = min(256, device.max_work_group_size)
        return self.get_kernel(_one_each)[0], (-(-count // local) * local,), (local,)

    def _launch_plain(self, args, queue):
        """The event of a call whose arrays lie ready and whose numbers are plain; None for others."""
        if len(args) != len(self._plain):
            return None
        values, first = [], None
        try:
            for dtype, value in zip(self._plain, args):  # noqa: B905 - of one length, as seen above
                if dtype is not None:
                    shape, strides, flags = value._known_flags
                    offset = value._offset
                    if (
                        shape is not value.shape
                        or strides is not value.strides
                        or not flags.forc
                        or dtype is not value.dtype
                        or value._base is None
                        or offset is None
                        or value.events
                    ):
                        return None
                    if first is None:
                        first = value
                    values += (value._base, offset)
                elif type(value) in _numbers or isinstance(value, np.number):
                    values.append(value)
                else:
                    return None
        except AttributeError:  # no Array, or one that was never passed to a kernel
            return None
        if queue is None:
            queue = first.queue
        address, shape, known, count = self._last
        if shape is not first.shape or queue is None or address != queue._address:
            count = first.size
            if queue is None or not count:
                return None
            known = self._shape(queue.device, count)
            self._last = queue._address, first.shape, known, count
        values.append(count)
        kernel, global_size, local_size = known
        return kernel._launch(queue, global_size, local_size, tuple(values))

    def __call__(
        self, *args, range=None, slice=None, capture_as=None, queue=None, wait_for=None, **kwargs
    ):
        """Run it; the Event of that.

        Parameters
        ----------
        range, slice : slice
            Indices, instead of all; `slice` counts negative ones from the end.
        queue : CommandQueue, optional
            By default the first array's.
        wait_for : list of Event, optional
        """
        if kwargs:
            raise TypeError(f"{self.name}: unknown arguments: {', '.join(kwargs)}")
        if range is not None and slice is not None:
            raise TypeError(f"{self.name}: expected range or slice; got both")
        if range is None and slice is None and wait_for is None and self._plain:
            event = self._launch_plain(args, queue)
            if event is not None:
                return event
        values, first = pass_arguments(self.arguments, args)
        if first is None and range is None:
            raise TypeError(f"{self.name}: expected an array among the arguments")
        for k in self._arrays:
            a, value = self.arguments[k], args[k]
            known = getattr(value, "_known_flags", None)  # quicker than asking anew
            if known is not None and known[0] is value.shape and known[2].forc:
                continue
            if hasattr(value, "flags") and not value.flags.forc:
                raise RuntimeError(
                    f"{self.name}: argument '{a.name}' is not contiguous; use copy()"
                )
        queue = queue or (first.queue if first is not None else None)
        if queue is None:
            raise ValueError(f"{self.name}: no queue is given, and the first array has none")
        if slice is not None:
            bounds = slice.indices(first.size)
        elif range is not None:
            bounds = (range.start or 0, range.stop, range.step or 1)
        else:
            bounds = (first.size,)
        count = len(_range(*bounds)) if len(bounds) > 1 else bounds[0]
        if not count:
            from ._objects.queues import enqueue_marker

            return enqueue_marker(queue, wait_for)
        if len(bounds) > 1:
            kernel, sizes = self.get_kernel(True)[0], work_items(queue.device, count)
        else:
            kernel, *sizes = self._shape(queue.device, count)
        return kernel(queue, *sizes, *values, *bounds, wait_for=wait_for)


def get_elwise_kernel(context, arguments, operation, name="elwise_kernel", options=(), **kwargs):
    """The Kernel of an `ElementwiseKernel`; the number of elements is its last argument."""
    return ElementwiseKernel(
        context, arguments, operation, name, list(options), **kwargs
    ).get_kernel()[0]


def complex_dtype_to_name(dtype):
    """Name of the functions of complex numbers of a dtype: "cfloat" or "cdouble"."""
    return dtype_to_ctype(dtype).removesuffix("_t")


__all__ = ["ElementwiseKernel", "complex_dtype_to_name", "get_elwise_kernel", "work_items"]
