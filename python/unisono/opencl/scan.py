"""Scans by C expressions: `GenericScanKernel`, `InclusiveScanKernel`, `ExclusiveScanKernel`.

Work-items scan a piece each; one scans the pieces' totals; each writes its piece with what stands before it. On CPUs one
work-item does all of a short scan, by one launch.
"""

import functools
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

_MOST_ALONE = 1 << 14  # bytes of items that a work-item scans by itself, on its stack


@functools.cache
def _limits(device):
    """(whether it is a CPU, how many work-items there are at most)."""
    is_cpu = bool(device.type & device_type.CPU)
    return is_cpu, device.max_compute_units * (4 if is_cpu else 64)


class ScanPerformanceWarning(UserWarning):
    """Never issued. Defined so that filters may name it."""


class GenericScanKernel:
    """Combines elements with all before them, and runs a statement with each result.

    Parameters
    ----------
    ctx : Context
    dtype : dtype
        Of the items.
    arguments : str or list of Argument
        The first array has the size of the scan.
    input_expr : str
        The item of index `i`.
    scan_expr : str
        Of `a` and `b`, and of `across_seg_boundary` in a segmented scan.
    neutral : str or None
        What `prev_item` is at the begin.
    output_statement : str
        With `i`, `N`, `item`, `prev_item` and `last_item`.
    is_segment_start_expr : str, optional
        Of `i` and `a`, the item: whether a segment starts there.
    input_fetch_exprs : list of (str, str, int)
        ``(name, array, offset)``: `name` is ``array[i + offset]`` in the input, with offsets 0 and -1.
    index_dtype : dtype
    name_prefix : str
    options : list of str
    preamble : str

    Examples
    --------
    >>> import numpy, unisono.opencl as cl, unisono.opencl.array
    >>> from unisono.opencl.scan import GenericScanKernel
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     x = cl.array.arange(queue, 4, dtype=numpy.int32)
    ...     scan = GenericScanKernel(
    ...         queue.context, numpy.int32, "int *x", "x[i]", "a + b", "0", "x[i] = item"
    ...     )
    ...     event = scan(x)
    ...     assert x.get().tolist() == [0, 1, 3, 6]
    ... except cl.Error:
    ...     pass
    """

    def __init__(
        self, ctx, dtype, arguments, input_expr, scan_expr, neutral, output_statement, is_segment_start_expr=None,
        input_fetch_exprs=None, index_dtype=np.int32, name_prefix="scan", options=None, preamble="", devices=None,
    ):  # fmt: skip
        self.context, self.dtype, self.index_dtype = ctx, np.dtype(dtype), np.dtype(index_dtype)
        if self.index_dtype.kind != "i":
            raise TypeError(
                f"{name_prefix}: index_dtype is a signed integer; got {self.index_dtype}"
            )
        if neutral is None and ("prev_item" in output_statement or is_segment_start_expr):
            raise ValueError(f"{name_prefix}: prev_item and segments need neutral")
        self.arguments = parse_arg_list(arguments, with_offset=True)
        self.name, self.options = name_prefix, options or []
        self._texts = (
            input_expr,
            scan_expr,
            neutral,
            output_statement,
            is_segment_start_expr,
            preamble,
        )
        self._fetches = list(input_fetch_exprs or ())
        for name, array, offset in self._fetches:
            if offset not in (0, -1):
                raise ValueError(
                    f"{name_prefix}: '{name}' of '{array}' has an offset of 0 or -1; got {offset}"
                )
        self.first_array_idx = next(
            (k for k, a in enumerate(self.arguments) if isinstance(a, VectorArg)), None
        )  # fmt: skip
        self._kernels, self._lock = None, threading.Lock()
        self._most_alone = _MOST_ALONE // max(self.dtype.itemsize, 1)

    def _source(self):
        input_expr, scan_expr, neutral, output, start_expr, preamble = self._texts
        kinds = {
            a.name: dtype_to_ctype(a.dtype) for a in self.arguments if isinstance(a, VectorArg)
        }
        index, fetches = dtype_to_ctype(self.index_dtype), ""
        for name, array, offset in self._fetches:
            fetches += f"        {kinds[array]} {name};\n"
            fetches += f"        if (i + {offset} >= 0) {name} = {array}[i + {offset}];\n"
        arguments = declarations(self.arguments)
        arguments += ", " if arguments else ""
        before = ""
        if neutral is not None:
            before = (
                "scan_type prev_item;"
                f" if (i == 0 || psc_start) prev_item = {neutral}; else prev_item = psc_before;"
            )
        item = f"""
{fetches}
        scan_type psc_item = INPUT_EXPR(i);
        char psc_start = IS_SEG_START(i, psc_item);"""
        write = f"""
        {before}
        {{ {output}; }}"""
        piece = f"""{get_arg_offset_adjuster_code(self.arguments)}
    index_type psc_id = get_global_id(0);
    index_type psc_first = psc_id * psc_each;
    index_type psc_end = psc_first + psc_each < N ? psc_first + psc_each : N;"""
        return f"""{preamble_of(self.arguments, [self.dtype], preamble)}
typedef {dtype_to_ctype(self.dtype)} scan_type;
typedef {index} index_type;
#define SCAN_EXPR(a, b, across_seg_boundary) ({scan_expr})
#define INPUT_EXPR(i) ({input_expr})
#define IS_SEG_START(i, a) ({start_expr or "false"})
#define PSC_MEMORY __global scan_type *psc_items, {index} N, {index} psc_count, {index} psc_each
#define PSC_PARTS \\
    __global scan_type *psc_totals = psc_items + N; \\
    __global char *psc_any = (__global char *) (psc_totals + psc_count); \\
    __global char *psc_starts = psc_any + psc_count;

__kernel void {self.name}_pieces({arguments}PSC_MEMORY) {{
PSC_PARTS
{piece}
    scan_type psc_sum;
    char psc_seen = 0;
    for (index_type i = psc_first; i < psc_end; ++i) {{{item}
        psc_items[i] = psc_item;
        {"psc_starts[i] = psc_start;" if start_expr else ""}
        if (i == psc_first)
            psc_sum = psc_item;
        else
            psc_sum = SCAN_EXPR(psc_sum, psc_item, psc_start);
        psc_seen |= psc_start;
    }}
    psc_totals[psc_id] = psc_sum;
    psc_any[psc_id] = psc_seen;
}}

__kernel void {self.name}_totals(PSC_MEMORY) {{
PSC_PARTS
    for (index_type i = 1; i < psc_count; ++i)
        psc_totals[i] = SCAN_EXPR(psc_totals[i - 1], psc_totals[i], psc_any[i]);
}}

__kernel void {self.name}_write({arguments}PSC_MEMORY) {{
PSC_PARTS
{piece}
    scan_type last_item = psc_totals[psc_count - 1];
    scan_type psc_before;
    if (psc_id > 0) psc_before = psc_totals[psc_id - 1];
    for (index_type i = psc_first; i < psc_end; ++i) {{
        scan_type psc_item = psc_items[i];
        char psc_start = {"psc_starts[i]" if start_expr else "0"};
        scan_type item;
        if (i == 0)
            item = psc_item;
        else
            item = SCAN_EXPR(psc_before, psc_item, psc_start);{write}
        psc_before = item;
    }}
}}

__kernel void {self.name}_alone({arguments}{index} N) {{
{get_arg_offset_adjuster_code(self.arguments)}
    scan_type psc_items[{max(self._most_alone, 1)}];
    char psc_starts[{max(self._most_alone, 1) if start_expr else 1}];
    scan_type psc_before;
    for (index_type i = 0; i < N; ++i) {{{item}
        {"psc_starts[i] = psc_start;" if start_expr else ""}
        if (i == 0)
            psc_before = psc_item;
        else
            psc_before = SCAN_EXPR(psc_before, psc_item, psc_start);
        psc_items[i] = psc_before;
    }}
    scan_type last_item = psc_before;
    for (index_type i = 0; i < N; ++i) {{
        char psc_start = {"psc_starts[i]" if start_expr else "0"};
        scan_type item = psc_items[i];{write}
        psc_before = item;
    }}
}}
"""

    def _built(self):
        with self._lock:
            if self._kernels is None:
                program = Program(self.context, self._source()).build(self.options)
                names = ("pieces", "totals", "write", "alone")
                self._kernels = [getattr(program, f"{self.name}_{name}") for name in names]
        return self._kernels

    def __call__(self, *args, allocator=None, queue=None, size=None, wait_for=None, **kwargs):
        """Run it; the Event of that.

        Parameters
        ----------
        queue : CommandQueue, optional
            By default the first array's.
        size : int, optional
            Number of items, by default that of the first array.
        wait_for : list of Event, optional
        """
        if kwargs:
            raise TypeError(f"{self.name}: unknown arguments: {', '.join(kwargs)}")
        values, first = pass_arguments(self.arguments, args)
        n = size if size is not None else args[self.first_array_idx].size
        queue = queue or first.queue
        if n == 0:
            from ._objects.queues import enqueue_marker

            return enqueue_marker(queue, wait_for)
        pieces, totals, write, alone = self._kernels or self._built()
        is_cpu, most = _limits(queue.device)
        if is_cpu and n <= self._most_alone:
            return alone(queue, (1,), (1,), *values, n, wait_for=wait_for)
        items = min(max(n // 64, 1), most)
        each = -(-n // items)
        items = -(-n // each)
        count = (n + items) * self.dtype.itemsize + items + (n if self._texts[4] else 0)
        memory = (Array(queue, count, np.int8).base_data, n, items, each)
        event = pieces(queue, (items,), None, *values, *memory, wait_for=wait_for)
        event = totals(queue, (1,), None, *memory, wait_for=[event])
        return write(queue, (items,), None, *values, *memory, wait_for=[event])


class GenericDebugScanKernel(GenericScanKernel):
    """The same: its kernels are simple already."""


class _ArrayScan:
    """A scan of one array into another one."""

    _output = None

    def __init__(
        self,
        ctx,
        dtype,
        scan_expr,
        neutral=None,
        name_prefix="scan",
        options=None,
        preamble="",
        devices=None,
    ):
        self.dtype = np.dtype(dtype)
        kind = dtype_to_ctype(dtype)
        self._scan = GenericScanKernel(
            ctx, dtype, f"{kind} *input_ary, {kind} *output_ary", "input_ary[i]", scan_expr, neutral, self._output,
            name_prefix=name_prefix, options=options, preamble=preamble,
        )  # fmt: skip

    def __call__(self, input_ary, output_ary=None, allocator=None, queue=None):
        """Run it; the Array with the results, by default the input's."""
        output_ary = input_ary if output_ary is None else output_ary
        if isinstance(output_ary, str) and output_ary == "new":
            output_ary = Array(
                queue or input_ary.queue, input_ary.shape, input_ary.dtype, allocator=allocator
            )
        if input_ary.shape != output_ary.shape:
            raise ValueError(
                f"scan: input and output differ in shape; got {input_ary.shape} and {output_ary.shape}"
            )
        self._scan(input_ary, output_ary, queue=queue)
        return output_ary


class InclusiveScanKernel(_ArrayScan):
    """Each element becomes the combination of all up to it, by ``scan_expr`` of `a` and `b`."""

    _output = "output_ary[i] = item"


class ExclusiveScanKernel(_ArrayScan):
    """Each element becomes the combination of all before it."""

    _output = "output_ary[i] = prev_item"


def get_cumsum_kernel(context, input_dtype, output_dtype):
    """A `GenericScanKernel` of ``input_ary`` and ``output_ary`` that sums."""
    kinds = dtype_to_ctype(input_dtype), dtype_to_ctype(output_dtype)
    return GenericScanKernel(
        context, output_dtype, f"{kinds[0]} *input_ary, {kinds[1]} *output_ary", "input_ary[i]", "a + b", "0",
        "output_ary[i] = item", name_prefix="cumsum",
    )  # fmt: skip
