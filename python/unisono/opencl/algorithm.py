"""`pyopencl.algorithm`: parts of arrays that meet a condition, and sorts by keys, all made of scans."""

import threading

import numpy as np

from ._arrays import Array
from ._objects.c_types import ScalarArg, VectorArg, declarations, dtype_to_ctype, parse_arg_list
from .list_builder import BuiltList, ListOfListsBuilder
from .scan import GenericScanKernel

_kernels = {}


def _extra(extra_args):
    """(types, values) of further arguments: a list of (name, value)."""
    types, values = [], []
    for name, value in extra_args or ():
        kind = VectorArg if isinstance(value, Array) else ScalarArg
        types.append(kind(np.dtype(value.dtype if hasattr(value, "dtype") else type(value)), name))
        values.append(value)
    return types, values


def _scan(ary, key, make):
    key = (ary.context, ary.dtype, key)
    if key not in _kernels:
        _kernels[key] = make()
    return _kernels[key]


def _run(ary, name, arguments, item, output, extra_args, preamble, queue, wait_for, outs):
    """Scans the truth of `item` as numbers, and runs `output`."""
    types, values = _extra(extra_args)
    index = np.int32 if ary.size <= np.iinfo(np.int32).max else np.int64
    kernel = _scan(
        ary, (name, item, preamble, index, tuple(types)),
        lambda: GenericScanKernel(
            ary.context, index, [VectorArg(ary.dtype, "ary"), *arguments(index), *types], item, "a + b", "0", output,
            index_dtype=index, preamble=preamble, name_prefix=name,
        ),
    )  # fmt: skip
    return kernel(ary, *outs(index), *values, queue=queue or ary.queue, wait_for=wait_for)


def copy_if(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """Elements that meet a condition.

    Parameters
    ----------
    ary : Array
    predicate : str
        C expression of ``ary[i]``.
    extra_args : list of (str, value), optional
        Further names that it uses.
    preamble : str
    queue : CommandQueue, optional
    wait_for : list of Event, optional

    Returns
    -------
    (Array, Array, Event)
        The elements, at the begin; how many there are.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl, unisono.opencl.array
    >>> from unisono.opencl.algorithm import copy_if
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     x = cl.array.arange(queue, 6, dtype=numpy.int32)
    ...     found, count, event = copy_if(
    ...         x, "ary[i] > limit", extra_args=[("limit", numpy.int32(3))]
    ...     )
    ...     assert found.get()[: int(count.get())].tolist() == [4, 5]
    ... except cl.Error:
    ...     pass
    """
    queue = queue or ary.queue
    out, made = Array(queue, ary.shape, ary.dtype), {}

    def outs(index):
        made["count"] = Array(queue, (), index)
        return out, made["count"]

    event = _run(
        ary, "copy_if", lambda index: [VectorArg(ary.dtype, "pcl_out"), VectorArg(index, "pcl_count")],
        f"({predicate}) ? 1 : 0",
        "if (prev_item != item) pcl_out[item - 1] = ary[i]; if (i + 1 == N) *pcl_count = item;",
        extra_args, preamble, queue, wait_for, outs,
    )  # fmt: skip
    return out, made["count"], event


def remove_if(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """Elements that do not meet a condition; parameters and results are those of `copy_if`."""
    return copy_if(ary, f"!({predicate})", extra_args, preamble, queue, wait_for)


def partition(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """Elements that meet a condition, and those that do not.

    Returns
    -------
    (Array, Array, Array, Event)
        Both kinds, at the begin of an array each; how many meet it.
    """
    queue = queue or ary.queue
    yes, no, made = Array(queue, ary.shape, ary.dtype), Array(queue, ary.shape, ary.dtype), {}

    def outs(index):
        made["count"] = Array(queue, (), index)
        return yes, no, made["count"]

    event = _run(
        ary, "partition",
        lambda index: [
            VectorArg(ary.dtype, "pcl_yes"), VectorArg(ary.dtype, "pcl_no"), VectorArg(index, "pcl_count")
        ],
        f"({predicate}) ? 1 : 0",
        "if (prev_item != item) pcl_yes[item - 1] = ary[i]; else pcl_no[i - item] = ary[i];"
        " if (i + 1 == N) *pcl_count = item;",
        extra_args, preamble, queue, wait_for, outs,
    )  # fmt: skip
    return yes, no, made["count"], event


def unique(ary, is_equal_expr="a == b", extra_args=None, preamble="", queue=None, wait_for=None):
    """The first one of each run of equal neighbours.

    Parameters
    ----------
    is_equal_expr : str
        C expression of the neighbours `a` and `b`.

    Returns
    -------
    (Array, Array, Event)
        The elements, at the begin; how many there are.
    """
    queue = queue or ary.queue
    out, made = Array(queue, ary.shape, ary.dtype), {}

    def outs(index):
        made["count"] = Array(queue, (), index)
        return out, made["count"]

    event = _run(
        ary, "unique", lambda index: [VectorArg(ary.dtype, "pcl_out"), VectorArg(index, "pcl_count")],
        "i == 0 || !PCL_IS_EQUAL(ary[i], ary[i - 1]) ? 1 : 0",
        "if (prev_item != item || i == 0) pcl_out[item - 1] = ary[i]; if (i + 1 == N) *pcl_count = item;",
        extra_args, f"{preamble}\n#define PCL_IS_EQUAL(a, b) ({is_equal_expr})\n", queue, wait_for, outs,
    )  # fmt: skip
    return out, made["count"], event


class RadixSort:
    """Sorts arrays by a key of integer bits; equal keys keep their order.

    Parameters
    ----------
    context : Context
    arguments : str or list of Argument
    key_expr : str
        C expression of the key of index `i`, an unsigned integer of `key_dtype`.
    sort_arg_names : list of str
        Arrays that are sorted.
    bits_at_a_time : int
    index_dtype, key_dtype : dtype
    options : list of str
    """

    def __init__(
        self, context, arguments, key_expr, sort_arg_names, bits_at_a_time=2, index_dtype=np.int32, key_dtype=np.uint32,
        scan_kernel=GenericScanKernel, options=None,
    ):  # fmt: skip
        self.arguments, self.sort_arg_names = parse_arg_list(arguments), list(sort_arg_names)
        self.bits, self.index_dtype, self.key_dtype = (
            int(bits_at_a_time),
            np.dtype(index_dtype),
            np.dtype(key_dtype),
        )
        names = [a.name for a in self.arguments]
        for name in self.sort_arg_names:
            if name not in names:
                raise ValueError(
                    f"RadixSort: '{name}' is sorted, but is not an argument; arguments are {names}"
                )
        self._sorted = [next(a for a in self.arguments if a.name == n) for n in self.sort_arg_names]
        self._first = next(k for k, a in enumerate(self.arguments) if isinstance(a, VectorArg))
        # The counts of the digits up to an element; a struct of numbers.
        digits, kind = 1 << self.bits, dtype_to_ctype(self.index_dtype)
        self._counts = np.dtype([(f"c{d}", self.index_dtype) for d in range(digits)])
        from ._objects.c_types import _DTYPE_TO_NAME, NAME_TO_DTYPE

        name = f"pcl_counts_{digits}_{kind}"
        self._counts = NAME_TO_DTYPE.setdefault(name, self._counts)
        _DTYPE_TO_NAME.setdefault(self._counts, name)
        fields = " ".join(f"{kind} c{d};" for d in range(digits))
        first = "\n".join(f"    s.c{d} = digit == {d};" for d in range(digits))
        added = "\n".join(f"    a.c{d} += b.c{d};" for d in range(digits))
        places = " + ".join(f"(digit > {d} ? last.c{d} : 0)" for d in range(digits - 1)) or "0"
        own = (
            "".join(f"digit == {d} ? upto.c{d} : " for d in range(digits - 1))
            + f"upto.c{digits - 1}"
        )
        key = dtype_to_ctype(self.key_dtype)
        preamble = f"""typedef struct {{ {fields} }} {name};
typedef {key} pcl_key_type;
#define PCL_DIGIT(i) ((int) ((((pcl_key_type) ({key_expr})) >> base_bit) & {digits - 1}))
{name} pcl_first(int digit) {{
    {name} s;
{first}
    return s;
}}
{name} pcl_add({name} a, {name} b) {{
{added}
    return a;
}}
{kind} pcl_place(int digit, {name} upto, {name} last) {{ return {places} + ({own}) - 1; }}
"""
        moved = "".join(f"pcl_{a.name}_out[pcl_at] = {a.name}[i];" for a in self._sorted)
        outs = [VectorArg(a.dtype, f"pcl_{a.name}_out") for a in self._sorted]
        self._scan = scan_kernel(
            context, self._counts, [*self.arguments, ScalarArg(np.dtype(np.int32), "base_bit"), *outs],
            "pcl_first(PCL_DIGIT(i))", "pcl_add(a, b)", "pcl_first(-1)",
            f"index_type pcl_at = pcl_place(PCL_DIGIT(i), item, last_item); {moved}",
            index_dtype=self.index_dtype, options=options, preamble=preamble, name_prefix="radix_sort",
        )  # fmt: skip

    def __call__(self, *args, key_bits=None, queue=None, allocator=None, wait_for=None, **kwargs):
        """Sort.

        Parameters
        ----------
        key_bits : int, optional
            How many bits of the key count, by default all.
        queue : CommandQueue, optional

        Returns
        -------
        (list of Array, Event)
            The sorted arrays, in the order of `sort_arg_names`.
        """
        if kwargs:
            raise TypeError(f"RadixSort: unknown arguments: {', '.join(kwargs)}")
        first = args[self._first]
        queue, args = queue or first.queue, list(args)
        if not first.size:
            from ._objects.queues import enqueue_marker

            return [args[self.arguments.index(a)] for a in self._sorted], enqueue_marker(
                queue, wait_for
            )
        bits = self.key_dtype.itemsize * 8 if key_bits is None else key_bits
        places = [self.arguments.index(a) for a in self._sorted]
        event = None
        for base in range(0, bits, self.bits):
            outs = [Array(queue, args[k].shape, args[k].dtype, allocator=allocator) for k in places]
            event = self._scan(*args, base, *outs, queue=queue, size=first.size, wait_for=wait_for)
            for k, out in zip(places, outs, strict=True):
                args[k] = out
            wait_for = None
        return [args[k] for k in places], event


class KeyValueSorter:
    """Collects values by integer keys.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context):
        self.context, self._sorts, self._lock = context, {}, threading.Lock()

    def __call__(self, queue, keys, values, nkeys, starts_dtype, allocator=None, wait_for=None):
        """Collect them.

        Parameters
        ----------
        queue : CommandQueue
        keys, values : Array
            Of one size; keys are below `nkeys`.
        nkeys : int
        starts_dtype : dtype

        Returns
        -------
        (Array, Array, Event)
            Where each key's values begin, and where the last ones end; the values.
        """
        kinds = (keys.dtype, values.dtype)
        with self._lock:
            if kinds not in self._sorts:
                arguments = [VectorArg(values.dtype, "values"), VectorArg(keys.dtype, "keys")]
                self._sorts[kinds] = RadixSort(
                    self.context, arguments, "keys[i]", ["values", "keys"], 4, key_dtype=np.uint32
                    if keys.dtype.itemsize <= 4 else np.uint64,
                )  # fmt: skip
        bits = max(int(nkeys - 1).bit_length(), 1)
        (values, keys), event = self._sorts[kinds](
            values, keys, key_bits=bits, queue=queue, allocator=allocator, wait_for=wait_for
        )
        import unisono

        found = unisono.searchsorted(
            keys._value(),
            unisono.arange(nkeys + 1, device=self.context._engine_name).astype(str(keys.dtype)),
        )
        starts = Array._of(found.astype(str(np.dtype(starts_dtype))), queue, self.context)
        return starts, values, event


__all__ = [
    "BuiltList", "KeyValueSorter", "ListOfListsBuilder", "RadixSort", "copy_if", "declarations", "partition", "remove_if", "unique",
]  # fmt: skip
