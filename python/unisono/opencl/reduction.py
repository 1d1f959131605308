"""`ReductionKernel`: elements mapped by a C expression and combined by another one."""

import threading

import numpy as np

from ._arrays import Array
from ._objects.c_types import (
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

_MOST_ALONE = 2048  # elements that one work-item of a CPU combines, rather than a second launch


def get_minmax_neutral(what, dtype):
    """C text of the number that changes no minimum or maximum of a dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return {"min": "INFINITY", "max": "-INFINITY"}[what]
    limits = np.iinfo(dtype)
    value = int({"min": limits.max, "max": limits.min}[what])
    if value == -(2**63):
        return "(-9223372036854775807L - 1)"
    return f"(({dtype_to_ctype(dtype)}){value}{'UL' if value >= 2**63 else 'L'})"


class ReductionKernel:
    """Combines ``map_expr`` of all indices `i` by ``reduce_expr`` of `a` and `b`.

    Parameters
    ----------
    ctx : Context
    dtype_out : dtype
    neutral : str
        C text of what changes nothing.
    reduce_expr : str
    map_expr : str, optional
        By default ``in[i]`` of the only array.
    arguments : str or list of Argument
    name : str
    options : list of str
    preamble : str

    Examples
    --------
    >>> import numpy, unisono.opencl as cl, unisono.opencl.array
    >>> from unisono.opencl.reduction import ReductionKernel
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     x = cl.array.arange(queue, 4, dtype=numpy.float32)
    ...     squares = ReductionKernel(
    ...         queue.context, numpy.float32, "0", "a + b", "x[i] * x[i]", "float *x"
    ...     )
    ...     assert squares(x).get() == 14
    ... except cl.Error:
    ...     pass
    """

    def __init__(
        self, ctx, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", options=None,
        preamble="",
    ):  # fmt: skip
        self.context, self.dtype_out, self.neutral = ctx, np.dtype(dtype_out), neutral
        self.reduce_expr, self.name, self.options, self.preamble = (
            reduce_expr,
            name,
            options or [],
            preamble,
        )
        if arguments is None:
            raise ValueError("ReductionKernel: arguments have to be given, as 'float *x'")
        self.arguments = parse_arg_list(arguments, with_offset=True)
        arrays = [a.name for a in self.arguments if isinstance(a, VectorArg)]
        if map_expr is None and len(arrays) != 1:
            raise RuntimeError(
                "ReductionKernel: map_expr has to be given unless there is one array"
            )
        self.map_expr = map_expr or f"{arrays[0]}[i]"
        self._program, self._lock = None, threading.Lock()

    def _source(self):
        kind = dtype_to_ctype(self.dtype_out)
        return f"""{preamble_of(self.arguments, [self.dtype_out], self.preamble)}
typedef {kind} out_type;
#define REDUCE(a, b) ({self.reduce_expr})
#define READ_AND_MAP(i) ({self.map_expr})

__kernel void {self.name}_parts(
    {declarations(self.arguments + [VectorArg(self.dtype_out, "pcl_parts")])}, long pcl_start, long pcl_step, long pcl_n,
    long pcl_each, long pcl_stride, long pcl_offset) {{
{get_arg_offset_adjuster_code(self.arguments)}
    long pcl_id = get_global_id(0);
    long pcl_first = pcl_stride == 1 ? pcl_id * pcl_each : pcl_id;
    long pcl_end = pcl_stride == 1 ? min(pcl_first + pcl_each, pcl_n) : pcl_n;
    out_type pcl_acc = {self.neutral};
    for (long pcl_k = pcl_first; pcl_k < pcl_end; pcl_k += pcl_stride) {{
        long i = pcl_start + pcl_k * pcl_step;
        pcl_acc = REDUCE(pcl_acc, READ_AND_MAP(i));
    }}
    ((__global out_type *) ((__global char *) pcl_parts + pcl_offset))[pcl_id] = pcl_acc;
}}

__kernel void {self.name}_all(
    __global out_type *pcl_parts, long pcl_count, __global out_type *pcl_out, long pcl_offset) {{
    out_type pcl_acc = {self.neutral};
    for (long pcl_k = 0; pcl_k < pcl_count; ++pcl_k) pcl_acc = REDUCE(pcl_acc, pcl_parts[pcl_k]);
    *(__global out_type *) ((__global char *) pcl_out + pcl_offset) = pcl_acc;
}}
"""

    def _built(self):
        with self._lock:
            if self._program is None:
                self._program = Program(self.context, self._source()).build(self.options)
        return self._program

    def __call__(
        self, *args, queue=None, out=None, range=None, slice=None, allocator=None, return_event=False, wait_for=None,
        out_offset=0, **kwargs,
    ):  # fmt: skip
        """Run it.

        Parameters
        ----------
        queue : CommandQueue, optional
            By default the first array's.
        out : Array, optional
            Where to; by default a new one without axes.
        range, slice : slice
            Indices, instead of all.
        return_event : bool
            Whether to return the Event, too.
        wait_for : list of Event, optional

        Returns
        -------
        Array, or (Array, Event)
        """
        if kwargs:
            raise TypeError(f"{self.name}: unknown arguments: {', '.join(kwargs)}")
        if range is not None and slice is not None:
            raise TypeError(f"{self.name}: expected range or slice; got both")
        values, first = pass_arguments(self.arguments, args)
        if first is None and range is None:
            raise TypeError(f"{self.name}: expected an array among the arguments")
        queue = queue or first.queue
        if range is not None:
            bounds = (range.start or 0, range.stop, range.step or 1)
        elif slice is not None:
            bounds = slice.indices(first.size)
        else:
            bounds = (0, first.size, 1)
        n = len(_range(*bounds))
        if out is None:
            out = Array(queue, (), self.dtype_out, allocator=allocator)
        elif out.dtype != self.dtype_out:
            raise TypeError(f"{self.name}: out has elements of {self.dtype_out}; got {out.dtype}")
        program, device = self._built(), queue.device
        is_cpu = device.type & device_type.CPU
        items = min(max(n // 64, 1), device.max_compute_units * (4 if is_cpu else 256))
        if is_cpu and n <= _MOST_ALONE:
            items = 1
        offset = out.offset + out_offset * self.dtype_out.itemsize
        parts = out if items == 1 else Array(queue, items, self.dtype_out)
        each, stride = (-(-n // items), 1) if is_cpu else (n, items)
        event = getattr(program, self.name + "_parts")(
            queue,
            (items,),
            None,
            *values,
            parts.base_data,
            bounds[0],
            bounds[2],
            n,
            each,
            stride,
            offset if items == 1 else 0,
            wait_for=wait_for,
        )
        if items > 1:
            event = getattr(program, self.name + "_all")(
                queue, (1,), None, parts.base_data, items, out.base_data, offset, wait_for=[event]
            )
        return (out, event) if return_event else out


_range = range  # which is the name of a parameter above
