"""`ListOfListsBuilder`: lists of unknown lengths, one for each object, by a C function that appends entries."""

import threading

import numpy as np

from ._arrays import Array
from ._objects.c_types import (
    OtherArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_offset_adjuster_code,
    parse_arg_list,
    pass_arguments,
    preamble_of,
)
from ._objects.programs import Program
from .elementwise import work_items
from .scan import GenericScanKernel


class BuiltList:
    """What `ListOfListsBuilder` made of one name.

    Attributes
    ----------
    count : int
        Entries of all lists together.
    starts : Array
        Where each object's list begins in `lists`, and where the last one ends.
    lists : Array
        The entries of all lists, in the order of the objects.
    num_nonempty_lists : int
        How many lists have entries. It and the next two only where empty lists are left out; `starts` has so many
        entries then, and one more.
    nonempty_indices : Array
        The objects of the lists that are not empty.
    compressed_indices : Array
        For each object, how many lists before its own are not empty.
    """

    def __init__(
        self, count=None, starts=None, lists=None, num_nonempty_lists=None, nonempty_indices=None,
        compressed_indices=None,
    ):  # fmt: skip
        self.count, self.starts, self.lists = count, starts, lists
        self.num_nonempty_lists = num_nonempty_lists
        self.nonempty_indices, self.compressed_indices = nonempty_indices, compressed_indices


class ListOfListsBuilder:
    """Builds lists of entries for objects, one of each name for each object.

    A C function ``generate`` is called for each object `i` twice: first its entries are counted, then they are written.
    So it may have no other effects than ``APPEND_<name>(entry)``.

    Parameters
    ----------
    context : Context
    list_names_and_dtypes : list of (str, dtype)
    generate_template : str
        C text with ``void generate(LIST_ARG_DECL USER_ARG_DECL index_type i)``. ``LIST_ARGS USER_ARGS`` passes on the
        arguments to other functions with the same declarations.
    arg_decls : str or list of Argument
        Further arguments.
    count_sharing : dict, optional
        By the name of a list, the name of another one: the first gets as many entries as the other, each of them after
        the other's.
    devices : list of Device, optional
        Without effect.
    name_prefix : str
        Of the kernels.
    options : list of str, optional
        For the compiler.
    preamble : str
    debug : bool
        One work-item calls for all objects.
    complex_kernel : bool
        Without effect.
    eliminate_empty_output_lists : list of str or bool
        Names whose empty lists are left out of `starts`.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl
    >>> from unisono.opencl.algorithm import ListOfListsBuilder
    >>> text = '''
    ... void generate(LIST_ARG_DECL USER_ARG_DECL index_type i) {
    ...     for (int j = 0; j < i % 4; ++j) APPEND_mylist(i % 4);
    ... }
    ... '''
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     build = ListOfListsBuilder(queue.context, [("mylist", numpy.int32)], text, arg_decls=[])
    ...     result, event = build(queue, 2000)
    ...     assert result["mylist"].count == 3000
    ...     assert result["mylist"].lists.get()[-6:].tolist() == [1, 2, 2, 3, 3, 3]
    ... except cl.Error:
    ...     pass
    """

    def __init__(
        self, context, list_names_and_dtypes, generate_template, arg_decls, count_sharing=None, devices=None,
        name_prefix="plb_build_list", options=None, preamble="", debug=False, complex_kernel=False,
        eliminate_empty_output_lists=False,
    ):  # fmt: skip
        self.context, self.name_prefix, self.options = context, name_prefix, options or []
        self.list_names_and_dtypes = [
            (name, np.dtype(kind)) for name, kind in list_names_and_dtypes
        ]
        self.generate_template, self.preamble, self.debug = generate_template, preamble, debug
        self.arg_decls = parse_arg_list(arg_decls)
        self.count_sharing = dict(count_sharing or {})
        names = [name for name, _ in self.list_names_and_dtypes]
        if isinstance(eliminate_empty_output_lists, bool):
            eliminate_empty_output_lists = names if eliminate_empty_output_lists else []
        self.eliminate_empty_output_lists = list(eliminate_empty_output_lists)
        self._check(self.eliminate_empty_output_lists, names, "eliminate_empty_output_lists")
        for child, mother in self.count_sharing.items():
            self._check([child, mother], names, "count_sharing")
            if mother in self.count_sharing:
                raise ValueError(
                    f"ListOfListsBuilder: '{child}' shares the count of '{mother}', which shares one itself"
                )
        self._made, self._lock = {}, threading.Lock()

    @staticmethod
    def _check(given, names, where):
        for name in given:
            if name not in names:
                raise ValueError(
                    f"ListOfListsBuilder: {where} names lists; got '{name}'; the lists are {names}"
                )

    def _arguments(self, index, counts):
        """(arguments of the kernel, arguments of `generate`, values for these, statements before, statements behind)."""
        kernel, own, values, before, behind = [], [], [], [], []
        kind = dtype_to_ctype(index)
        for name, dtype in self.list_names_and_dtypes:
            shares = name in self.count_sharing
            if not counts:
                kernel.append(VectorArg(dtype, f"plb_{name}_list"))
                own.append(kernel[-1])
                values.append(f"plb_{name}_list")
            if shares:
                continue
            local = f"plb_{name}_index"
            own.append(OtherArg(f"{kind} *{local}", local))
            values.append(f"&{local}")
            if counts:
                kernel.append(VectorArg(index, f"plb_{name}_count"))
                before.append(f"index_type {local} = 0;")
                behind.append(f"if (plb_{name}_count) plb_{name}_count[i] = {local};")
                continue
            kernel.append(VectorArg(index, f"plb_{name}_starts"))
            at = "i"
            if name in self.eliminate_empty_output_lists:
                kernel.append(VectorArg(index, f"plb_{name}_places"))
                at = f"plb_{name}_places[i]"
            before.append(f"index_type {local} = plb_{name}_starts ? plb_{name}_starts[{at}] : 0;")
        return kernel, own, values, before, behind

    def _source(self, name, index, counts):
        kernel, own, values, before, behind = self._arguments(index, counts)
        appends = []
        for list_name, _ in self.list_names_and_dtypes:
            mother, entries = self.count_sharing.get(list_name), f"plb_{list_name}_list"
            if counts:
                text = "" if mother else f"++(*plb_{list_name}_index);"
            elif mother:
                text = f"if ({entries}) {entries}[*plb_{mother}_index - 1] = value;"
            else:
                text = f"if ({entries}) {entries}[(*plb_{list_name}_index)++] = value;"
            appends.append(f"#define APPEND_{list_name}(value) {{ {text} }}")
        user = [
            VectorArg(a.dtype, a.name) if isinstance(a, VectorArg) else a for a in self.arg_decls
        ]

        def joined(parts):
            return "".join(f"{part}, " for part in parts)

        dtypes = [dtype for _, dtype in self.list_names_and_dtypes]
        lines = "\n".join
        return f"""{preamble_of(self.arg_decls, dtypes, self.preamble)}
typedef {dtype_to_ctype(index)} index_type;
#define {"PLB_COUNT_STAGE" if counts else "PLB_WRITE_STAGE"}
{lines(appends)}
#define LIST_ARG_DECL {joined(a.declarator() for a in own)}
#define LIST_ARGS {joined(a.name for a in own)}
#define USER_ARG_DECL {joined(a.declarator() for a in user)}
#define USER_ARGS {joined(a.name for a in user)}
{self.generate_template}
__kernel void {name}({joined(a.declarator() for a in [*kernel, *self.arg_decls])}{dtype_to_ctype(index)} n) {{
{get_arg_offset_adjuster_code(self.arg_decls)}
for (index_type i = get_global_id(0); i < n; i += get_global_size(0)) {{
{lines(before)}
generate({joined(values)}USER_ARGS i);
{lines(behind)}
}}
}}
"""

    def _kept(self, key, make):
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    def _kernel(self, index, counts):
        def make():
            name = self.name_prefix + ("_count" if counts else "_write")
            program = Program(self.context, self._source(name, index, counts)).build(self.options)
            return getattr(program, name)

        return self._kept((index, counts), make)

    def get_count_kernel(self, index_dtype):
        """The Kernel that counts the entries of each list."""
        return self._kernel(np.dtype(index_dtype), True)

    def get_write_kernel(self, index_dtype):
        """The Kernel that writes the entries."""
        return self._kernel(np.dtype(index_dtype), False)

    def get_scan_kernel(self, index_dtype):
        """The scan that makes starts of counts, in place: all but the first start."""
        index = np.dtype(index_dtype)
        return self._kept(
            (index, "scan"),
            lambda: GenericScanKernel(
                self.context, index, [VectorArg(index, "ary")], "ary[i]", "a + b", "0", "ary[i + 1] = item",
                index_dtype=index, name_prefix=self.name_prefix + "_starts",
            ),
        )  # fmt: skip

    def get_compress_kernel(self, index_dtype):
        """The scan that takes counts above 0 together."""
        index = np.dtype(index_dtype)
        names = ("count", "compressed_counts", "nonempty_indices", "compressed_indices", "found")
        return self._kept(
            (index, "compress"),
            lambda: GenericScanKernel(
                self.context, index, [VectorArg(index, name) for name in names], "count[i] == 0 ? 0 : 1", "a + b",
                "0",
                "compressed_indices[i] = prev_item; if (prev_item != item) {"
                " nonempty_indices[prev_item] = i; compressed_counts[prev_item] = count[i]; }"
                " if (i + 1 == N) *found = item;",
                index_dtype=index, name_prefix=self.name_prefix + "_compress",
            ),
        )  # fmt: skip

    def _compressed(self, built, queue, index, n_objects, allocator):
        """Leaves the empty lists out of counts."""
        counts = Array(queue, n_objects + 1, index, allocator=allocator)
        built.nonempty_indices = Array(queue, n_objects, index, allocator=allocator)
        built.compressed_indices = Array(queue, n_objects, index, allocator=allocator)
        found = Array(queue, 1, index, allocator=allocator)
        built.num_nonempty_lists = 0
        if n_objects:  # else nothing is found
            self.get_compress_kernel(index)(
                built.starts, counts, built.nonempty_indices, built.compressed_indices, found,
                queue=queue, size=n_objects,
            )  # fmt: skip
            built.num_nonempty_lists = int(found.get()[0])
        built.nonempty_indices = built.nonempty_indices[: built.num_nonempty_lists]
        built.starts = counts[: built.num_nonempty_lists + 1]
        return built.num_nonempty_lists

    def __call__(
        self, queue, n_objects, *args, allocator=None, omit_lists=None, wait_for=None, **kwargs
    ):
        """Build the lists.

        Parameters
        ----------
        queue : CommandQueue
        n_objects : int
        *args : Array, MemoryObject or number
            Values of `arg_decls`.
        allocator : callable, optional
            Of the arrays made.
        omit_lists : list of str, optional
            Names that are not built; what ``generate`` appends to them is left out.
        wait_for : list of Event, optional

        Returns
        -------
        (dict of BuiltList, Event)
            By the names of the lists.
        """
        if kwargs:
            raise TypeError(f"ListOfListsBuilder: unknown arguments: {', '.join(kwargs)}")
        omitted = list(omit_lists or ())
        self._check(omitted, [name for name, _ in self.list_names_and_dtypes], "omit_lists")
        n_objects = int(n_objects)
        index = np.dtype(np.int32 if n_objects < np.iinfo(np.int32).max else np.int64)
        values, _ = pass_arguments(self.arg_decls, args)
        sizes = ((1,), (1,)) if self.debug else work_items(queue.device, n_objects)
        wait_for = [*(wait_for or ()), *(e for a in args for e in getattr(a, "events", ()))]
        result, passed = {}, []
        counted = [
            (name, dtype) for name, dtype in self.list_names_and_dtypes if name not in self.count_sharing
        ]  # fmt: skip
        for name, _ in counted:
            if name in omitted:
                passed.append(None)
                continue
            result[name] = BuiltList(starts=Array(queue, n_objects + 1, index, allocator=allocator))
            passed.append(result[name].starts.data)
        if n_objects:
            self.get_count_kernel(index)(
                queue, *sizes, *passed, *values, n_objects, wait_for=wait_for
            )
        for name, built in result.items():
            lists = n_objects
            if name in self.eliminate_empty_output_lists:
                lists = self._compressed(built, queue, index, n_objects, allocator)
            self.get_scan_kernel(index)(built.starts, queue=queue, size=lists)
            built.starts[0] = 0
            built.count = int(built.starts[lists].get())
        passed = []
        for name, dtype in self.list_names_and_dtypes:
            mother = self.count_sharing.get(name)
            eliminated = mother is None and name in self.eliminate_empty_output_lists
            if name in omitted:
                passed += [None] * (1 + (mother is None) + eliminated)
                continue
            if mother is not None:
                if mother in omitted:
                    raise ValueError(
                        f"ListOfListsBuilder: '{name}' shares the count of '{mother}', which is omitted; omit both"
                    )
                result[name] = BuiltList(result[mother].count, result[mother].starts)
            built = result[name]
            built.lists = Array(queue, built.count, dtype, allocator=allocator)
            passed.append(built.lists.data if built.count else None)
            if mother is None:
                passed.append(built.starts.data)
            if eliminated:
                passed.append(built.compressed_indices.data)
        if not n_objects:
            from ._objects.queues import enqueue_marker

            return result, enqueue_marker(queue, wait_for)
        return result, self.get_write_kernel(index)(queue, *sizes, *passed, *values, n_objects)


__all__ = ["BuiltList", "ListOfListsBuilder"]
