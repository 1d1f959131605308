"""Modules of names that are loaded at their first use, and aliases."""

_names = {
    "._jit": "barrier global_id global_size group_id jit kernel local_array local_id local_linear_id local_linear_size local_size lock mem_fence njit num_groups parallel prange python task tasks team_size thread_id",
    "._jit.group_words": """
        num_sub_groups sub_group_all sub_group_any sub_group_ballot sub_group_barrier sub_group_broadcast sub_group_id
        sub_group_local_id sub_group_reduce_add sub_group_reduce_max sub_group_reduce_min sub_group_scan_exclusive_add
        sub_group_scan_exclusive_max sub_group_scan_exclusive_min sub_group_scan_inclusive_add
        sub_group_scan_inclusive_max sub_group_scan_inclusive_min sub_group_shuffle sub_group_shuffle_down
        sub_group_shuffle_up sub_group_shuffle_xor sub_group_size work_group_all work_group_any work_group_broadcast
        work_group_reduce_add work_group_reduce_max work_group_reduce_min work_group_scan_exclusive_add
        work_group_scan_exclusive_max work_group_scan_exclusive_min work_group_scan_inclusive_add
        work_group_scan_inclusive_max work_group_scan_inclusive_min""",
    "._jit.vectorize": "vectorize",
    "._jit.guvectorize": "guvectorize",
    "._jit.jitclass": "jitclass",
    "._jit.ahead": "compile_module",
    "._jit.overload": "overload overload_attribute overload_method",
    "._jit.intrinsic": "intrinsic",
    "._jit.stencil": "stencil",
    "._jit.cfunc": "carray cfunc farray",
    "._jit.c_module": "c_module",
    "._raw.kernels": "RawKernel RawModule",
    "._raw.elementwise": "ElementwiseKernel",
    "._raw.reduction": "ReductionKernel",
    "._raw.scan": "ScanKernel",
    "._jit.declared": "declare_device",
    "._jit.cpp_module": "cpp_module",
    "._jit.fortran": "fortran",
    "._jit.numba_words": """
        get_parallel_chunksize get_thread_id jit_module literal_unroll literally objmode parallel_chunksize pndindex
        register_jitable set_parallel_chunksize threading_layer""",
    "._runtime.mesh": "mesh",
    "._runtime.parts": "map_blocks",
    "._runtime.devices": "devices",
    "._runtime.queues": "Event Queue device",
    "._runtime.across": "across",
    "._runtime.evaluation": "eager explain flush_log get_num_threads set_num_threads stats synchronize",
    "._cluster": "RemoteError cluster",
    "._arrays.exchange.array_like": "ArrayLike",
    "._numpy.statistics": "argmax argmin count_nonzero mean ptp std var",
    "._numpy.covariance": "average corrcoef cov",
    "._arrays.positions": "argwhere flatnonzero indices ix_ nonzero ravel_multi_index unravel_index",
    "._arrays.selection": "choose compress copyto extract place putmask select",
    "._arrays.diagonals": """
        diag diag_indices diag_indices_from diagflat diagonal fill_diagonal mask_indices tri tril tril_indices
        tril_indices_from triu triu_indices triu_indices_from""",
    "._arrays.indexing": "put put_along_axis take take_along_axis",
    "._arrays.joining": "append block column_stack concat concatenate dstack hstack stack vstack",
    "._arrays.manipulation": "delete insert repeat resize roll tile trim_zeros",
    "._numpy.grids": "meshgrid mgrid ogrid",
    "._arrays.pad": "pad",
    "._numpy.composed": """
        conjugate deg2rad degrees divmod fabs float_power frexp heaviside isnat ldexp logaddexp logaddexp2 logical_and
        logical_or logical_xor modf positive rad2deg radians reciprocal spacing square""",
    "._dtype.functions": """
        can_cast common_type finfo iinfo isdtype issubdtype min_scalar_type mintypecode promote_types result_type typecodes
        typename""",
    "._numpy.histograms": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "._numpy.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "._numpy.nan": "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "._numpy.sorting": "argpartition argsort digitize lexsort partition searchsorted sort sort_complex top_k",
    "._numpy.sets": """
        in1d intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values""",
    "._numpy.scans": "cumprod cumsum cumulative_prod cumulative_sum",
    "._numpy.products": "cross dot einsum einsum_path inner kron matvec outer tensordot vdot vecdot vecmat",
    "._arrays.splitting": "array_split dsplit hsplit split unstack vsplit",
    "._arrays.views": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes expand_dims isfortran isscalar iterable ndim
        ravel shape size squeeze""",
    "._arrays.flips": "flip fliplr flipud rot90",
    "._arrays.transposes": "matrix_transpose moveaxis rollaxis swapaxes",
    "._arrays.ranges": "geomspace linspace logspace",
    "._arrays.like": "empty_like full_like ones_like zeros_like",
    "._arrays.special_matrices": "eye identity trace vander",
    "._arrays.exchange.from_data": """
        asanyarray asarray_chkfinite ascontiguousarray asfortranarray from_dlpack frombuffer fromfunction fromiter fromstring
        require""",
    "._numpy.closeness": "allclose array_equal array_equiv isclose isneginf isposinf",
    "._numpy.complex_parts": "angle imag iscomplex iscomplexobj isreal isrealobj real real_if_close",
    "._numpy.rounding": "around clip fix nan_to_num round",
    "._numpy.windows": "bartlett blackman hamming hanning i0 kaiser sinc",
    "._numpy.convolution": "convolve correlate",
    "._numpy.differences": "diff ediff1d gradient interp trapezoid unwrap",
    "._numpy.apply": "apply_along_axis apply_over_axes frompyfunc piecewise",
    "._numpy.polynomial": "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    "._io.mapped": "memmap",
    "._io.files": "fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed",
    "._printing.formatting": """
        array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        get_printoptions printoptions set_printoptions""",
    ".types": "deferred_type from_dtype optional typeof void",
    "._dtype.kinds": """
        False_ True_ complexfloating floating generic inexact integer number signedinteger unsignedinteger""",
    "._arrays.index_tricks": "c_ index_exp ndenumerate ndindex r_ s_",
    "._arrays.memory_overlap": "may_share_memory shares_memory",
    "._numpy.bits": "packbits unpackbits",
    "._numpy.float_errors": "errstate geterr geterrcall seterr seterrcall",
    "._arrays.methods": "flatiter",
    "._arrays.broadcasting": "broadcast",
    "._tools.build_info": "get_include show_config show_runtime",
    "._tools.profile": "profile",
    ".array_api._info": "__array_namespace_info__",
}  # fmt: skip
homes = {name: module for module, names in _names.items() for name in names.split()}

# Where functions of arrays are: what they refuse since its elements are no numbers, NumPy computes.
computes = ("._arrays.", "._numpy.", "._dtype.functions")

# Other spellings; the array API standard's come first.
aliases = dict(
    pair.split("=")
    for pair in """
        acos=arccos acosh=arccosh asin=arcsin asinh=arcsinh atan=arctan atan2=arctan2 atanh=arctanh
        bitwise_invert=invert bitwise_left_shift=left_shift bitwise_right_shift=right_shift bitwise_not=invert
        conj=conjugate mod=remainder pow=power true_divide=divide permute_dims=transpose
        row_stack=vstack bool_=bool byte=int8 ubyte=uint8 short=int16 ushort=uint16 intc=int32 uintc=uint32 int_=int64
        uint=uint64 intp=int64 uintp=uint64 long=int64 ulong=uint64 longlong=int64 ulonglong=uint64 single=float32 half=float16
        double=float64 csingle=complex64 cdouble=complex128
        boolean=bool b1=bool i1=int8 i2=int16 i4=int32 i8=int64 u1=uint8 u2=uint16 u4=uint32 u8=uint64 f4=float32 f8=float64
        c8=complex64 c16=complex128
    """.split()
)
# Sub-packages and modules that are attributes of the package.
modules = "array_api atomic config cuda cupy cupyx dpctl emath errors exceptions experimental extending fft ga lib linalg memory mpi opencl profiler random testing typed types vectors"
# Those that NumPy has not; they load libraries and are no part of ``from unisono import *``.
other_modules = frozenset(modules.split()) - set(
    "emath exceptions fft lib linalg random testing".split()
)
# What is not computed here is NumPy's own: it takes and gives NumPy's arrays.
numpys = frozenset(
    """
    ScalarType _NoValue asmatrix bmat busday_count busday_offset busdaycalendar bytes_ char character clongdouble
    complex256 ctypeslib datetime64 datetime_as_string datetime_data dtypes flexible float128 is_busday longdouble ma
    getbufsize matrix matrixlib nditer nested_iters object_ polynomial rec recarray record sctypeDict setbufsize str_
    strings timedelta64 typing
    """.split()
)
# What Numba has or earlier NumPys had and this package has not, and what to write instead.
_debugger = "compile with un.jit(debug=True) and set breakpoints in gdb, or step in pdb with un.jit(interpret=True)"
absent = {
    "as_numba_type": "un.jit reads Python's own annotations; un.typeof(x) tells the type of a value",
    "bool8": "write un.bool_",
    "core": "types are in un.types, exceptions in un.errors",
    "cumproduct": "write un.cumprod",
    "gdb": _debugger,
    "gdb_breakpoint": _debugger,
    "gdb_init": _debugger,
    "generated_jit": "write an implementation with un.overload that asks isinstance(x, types.Float)",
    "int0": "write un.intp",
    "msort": "write un.sort(x, axis=0)",
    "product": "write un.prod",
    "pycc": "un.compile_module(name, functions, folder), or python -m unisono build file.py",
    "structref": "write a dataclass, which compiled functions make, change and share",
    "trapz": "write un.trapezoid",
}


def way_out(name):
    """What to write for a name that is not ours; of those that NumPy has removed, NumPy tells it."""
    import builtins

    if name in absent:
        return absent[name]
    if hasattr(builtins, name):  # NumPy had aliases of some
        return f"write {name}, which is Python's"
    if not name.startswith("_"):  # Python and libraries ask for such names: no reason to load NumPy
        import re

        import numpy

        try:
            getattr(numpy, name)
        except AttributeError as error:
            advice = re.search(r"\. ((?:Use|Now|Search) .*)", str(error))
            if advice:
                return "NumPy says: " + advice[1].rstrip(".")
    return "dir(un) lists what this version has"
