"""CuPy's names over this library: ``import unisono.cupy as cp`` runs a CuPy program on every device.

Names that are not CuPy's own are those of `unisono`. New arrays are made on the current device of `unisono.cuda`: the one
chosen, else the first CUDA device, else the CPU.
"""

from __future__ import annotations

import builtins  # functions of the same names become names of this module
import contextlib
import functools

import unisono as _un

from .._raw.elementwise import ElementwiseKernel
from .._raw.kernels import RawKernel, RawModule
from .._raw.reduction import ReductionKernel
from .._records import records as _records
from ..cuda import devices as _devices
from . import _placing, cuda, exceptions
from ._class import ndarray

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "asnumpy",
    "byte_bounds",
    "clear_memo",
    "cuda",
    "exceptions",
    "fromDlpack",
    "fuse",
    "get_array_module",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "is_available",
    "make_aligned_dtype",
    "memoize",
    "ndarray",
    "row_stack",
]

_new = frozenset(
    """
    arange array asarray ascontiguousarray asfortranarray empty empty_like eye full full_like identity linspace logspace
    asanyarray ones ones_like tri zeros zeros_like""".split()
)
_placed = frozenset(
    """
    bartlett blackman diag diag_indices diagflat fromfile fromfunction fromiter frombuffer fromstring genfromtxt geomspace
    hamming hanning indices kaiser load loadtxt mask_indices meshgrid tril_indices triu_indices vander""".split()
)
_scalars = frozenset(
    """
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 intp uintp byte
    ubyte short ushort intc uintc int_ uint longlong ulonglong half single double float_ csingle cdouble complex_ cfloat
    generic number integer signedinteger unsignedinteger inexact floating complexfloating""".split()
)
_by_method = frozenset("sum prod max amax min amin mean std var argmax argmin".split())
_old = {"round_": "round", "product": "prod", "cumproduct": "cumprod"}
_newer = {"float_": "float64", "complex_": "complex128", "cfloat": "complex128"}


def __getattr__(name):
    if name in _scalars:  # they are NumPy's, as in CuPy
        import numpy

        value = getattr(numpy, _newer.get(name, name))
    elif name in (
        "AxisError",
        "ComplexWarning",
        "VisibleDeprecationWarning",
        "RankWarning",
        "TooHardError",
    ):
        value = getattr(exceptions, name)
    elif name in ("fft", "linalg", "random", "testing"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    else:
        value = getattr(_un, _old.get(name, name))
        if name in _new:
            value = _on_current_device(value, name)
        elif name in _by_method:
            value = _host_arrays_by_method(value, name)
        elif name in ("imag", "real"):
            value = _of_arrays(value)
        elif name in _placed:
            value = _placing.placed(value)
        elif name in ("c_", "mgrid", "ogrid", "r_"):
            value = _placing.PlacedIndex(value)
        else:
            return value
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_un)})


def _on_current_device(function, name):
    keeps_order = name in ("array", "asarray", "asanyarray")

    @functools.wraps(function)
    def made(*args, **options):
        options.pop("blocking", None)  # copies from the host wait in any case
        if options.get("subok"):
            raise TypeError(
                f"{name}: subok=True is not supported; results are never subclasses; leave it out"
            )
        given = args[0] if args else None
        if keeps_order and len(args) < 3 and _lies_in_columns(given):
            options["order"] = "F" if options.get("order") in (None, "K", "A") else options["order"]
        if hasattr(given, "__cupy_get_ndarray__"):
            given = given.__cupy_get_ndarray__()
            args = given, *args[1:]
        if options.get("device") is not None:
            return function(*args, **options)
        device = _devices.current_device()
        if isinstance(given, _un._engine._Array) and given.device.name != "cpu":
            if not _on_two_gpus(given.device, device):
                return function(*args, **options)
            args = given.to_device(device), *args[1:]
        if device.name == "cpu":
            result = function(*args, **options)
            if (
                getattr(getattr(result, "dtype", None), "kind", "") not in "mM"
            ):  # dates are NumPy's here
                _refuse_other_elements(name, result)
            return result
        with _un.device(device):
            result = function(*args, **options)
        first, *rest = result if type(result) is tuple else (result,)  # linspace's with its step
        if not isinstance(first, _un._engine._Array):  # NumPy's own
            _refuse_other_elements(name, first)
            return _records.from_numpy(first, device=device)
        if first.device != device:
            first = first.to_device(device)
        return (first, *rest) if rest else first

    return made


def _refuse_other_elements(name, made):
    """Raise where it is an array of NumPy's of texts, dates or objects, which no device holds."""
    if isinstance(made, _un._engine._Array) or not hasattr(made, "dtype"):
        return
    if made.dtype.kind != "V" or not made.dtype.itemsize or made.dtype.hasobject:
        raise ValueError(
            f"{name}: Unsupported dtype; got {made.dtype}; expected numbers, bools or records of these"
        )


def _on_two_gpus(one, two):
    """Whether they are two CUDA devices: arrays of the one are copied to the other, which is the current one."""
    return one != two and one.name.startswith("cuda:") and two.name.startswith("cuda:")


def _host_arrays_by_method(function, name):
    """The function, which of NumPy's arrays calls the method, as CuPy's does: the result is NumPy's then."""
    import numpy

    method = {"amax": "max", "amin": "min"}.get(name, name)

    @functools.wraps(function)
    def reduced(a, *args, **options):
        if type(a) is numpy.ndarray:
            return getattr(a, method)(*args, **options)
        return function(a, *args, **options)

    return reduced


def _of_arrays(function):
    """The function, whose results of Python's numbers are arrays, as CuPy's are."""

    @functools.wraps(function)
    def part(val):
        return function(_un.asarray(val))

    return part


def _lies_in_columns(given):
    """Whether it is an array of NumPy in Fortran's order alone, which CuPy keeps."""
    flags = getattr(given, "flags", None)
    return (
        getattr(flags, "f_contiguous", False)
        and flags.fnc
        and not isinstance(given, _un._engine._Array)
    )


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """A NumPy array of an array's elements.

    Parameters
    ----------
    a : array or sequence
    stream, blocking : optional
        CuPy's, without effect: it waits.
    order : {'C', 'F', 'A', 'K'}
    out : numpy.ndarray, optional
        It is filled and returned.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.asnumpy(cp.arange(3))
    array([0, 1, 2])
    """
    if not isinstance(a, _un._engine._Array) and hasattr(a, "__cuda_array_interface__"):
        a = _un.asarray(a)
    if isinstance(a, _un._engine._Array):
        return a.get(order=order, out=out)
    import numpy

    made = numpy.asarray(a, order=order)
    if out is None:
        return made
    out[...] = made
    return out


def get_array_module(*args):
    """This module where an argument is an array of ours, else NumPy.

    Parameters
    ----------
    *args : object

    Returns
    -------
    module
    """
    import sys

    if any(isinstance(a, _un._engine._Array) for a in args):
        return sys.modules[__name__]
    import numpy

    return numpy


def fuse(*args, **options):
    """A decorator that leaves a function as it is: its statements are recorded and run as one kernel anyway.

    Parameters
    ----------
    *args : function, optional
    kernel_name : str, optional

    Returns
    -------
    function
    """
    unknown = set(options) - {"kernel_name"}
    if unknown:
        raise TypeError(f"fuse: unknown options; got {sorted(unknown)}; expected kernel_name")
    return _fused(args[0]) if args else _fused


def _fused(function):
    with contextlib.suppress(AttributeError):  # of functions of C
        function.clear_cache = lambda: None  # kernels are kept with those of other statements
    return function


class _Capsule:
    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0  # the tensor says where it lies


def fromDlpack(dltensor):
    """The array of a DLPack capsule, with whose owner it shares its memory; objects with one go to `from_dlpack`.

    Parameters
    ----------
    dltensor : capsule

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.fromDlpack(cp.arange(3).toDlpack()).tolist()
    [0, 1, 2]
    """
    return _un.from_dlpack(dltensor if hasattr(dltensor, "__dlpack__") else _Capsule(dltensor))


def row_stack(tup, *, dtype=None, casting="same_kind"):
    """`vstack`, by a name that CuPy and NumPy deprecate.

    Parameters
    ----------
    tup : sequence of array_like
    dtype : dtype, optional
    casting : str

    Returns
    -------
    ndarray
    """
    import warnings

    warnings.warn(
        "`row_stack` alias is deprecated. Use `vstack` directly.", DeprecationWarning, stacklevel=2
    )
    return _un.vstack(tup, dtype=dtype, casting=casting)


def get_default_memory_pool():
    """The pool of the current device, with `used_bytes`, `free_all_blocks` and the like.

    Returns
    -------
    cuda.MemoryPool
    """
    return cuda.memory._default


def get_default_pinned_memory_pool():
    """The same pool: memory of the host is kept with it.

    Returns
    -------
    cuda.PinnedMemoryPool
    """
    return cuda.memory._default_pinned


def is_available():
    """Whether there is a CUDA device; programs run without one, too."""
    return cuda.is_available()


def byte_bounds(a):
    """Addresses of the first byte of an array and of the one behind its last.

    Parameters
    ----------
    a : ndarray

    Returns
    -------
    tuple of int
    """
    low = high = a.data.ptr
    for n, step in zip(a.shape, a.strides, strict=True):
        if n == 0:
            return low, low
        low, high = low + builtins.min(0, (n - 1) * step), high + builtins.max(0, (n - 1) * step)
    return low, high + a.itemsize


def make_aligned_dtype(dtype):
    """A structured dtype with padding, whose fields lie at multiples of what CUDA needs.

    Numbers are aligned to their size, up to 16 bytes: complex ones, too, which NumPy's ``align=True`` puts at multiples
    of their parts.

    Parameters
    ----------
    dtype : dtype
        With fields, which may be structured.

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.make_aligned_dtype("?,c8").itemsize
    16
    """
    import numpy

    dtype = numpy.dtype(dtype)
    if dtype.names is None:
        raise ValueError(
            f"make_aligned_dtype: only supports structured dtypes; got {dtype}; expected one with fields"
        )
    return _aligned(dtype)[0]


def _aligned(dtype):
    """(the dtype with padding, its alignment)."""
    import numpy

    if dtype.subdtype:
        element, alignment = _aligned(dtype.subdtype[0])
        return numpy.dtype((element, dtype.subdtype[1])), alignment
    if dtype.names is None:
        is_number = dtype.kind in "biufcmM"
        return dtype, builtins.min(dtype.itemsize, 16) if is_number else 1
    formats, offsets, end, widest = [], [], 0, 1
    for name in dtype.names:
        field, alignment = _aligned(dtype.fields[name][0])
        formats.append(field)
        offsets.append(-(-end // alignment) * alignment)
        end, widest = offsets[-1] + field.itemsize, builtins.max(widest, alignment)
    size = -(-end // widest) * widest
    made = {"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": size}
    return numpy.dtype(made, align=False), widest


def memoize(for_each_device=False):
    """A decorator that keeps a function's results by its arguments, as CuPy's.

    Parameters
    ----------
    for_each_device : bool
        Whether each device has results of its own.

    Returns
    -------
    function
    """

    def decorated(function):
        known = {}

        @functools.wraps(function)
        def remembered(*args, **options):
            place = _devices.current_device().name if for_each_device else None
            key = place, args, frozenset(options.items())
            if key not in known:
                known[key] = function(*args, **options)
            return known[key]

        _memories.append(known)
        return remembered

    return decorated


_memories = []


def clear_memo():
    """Forget all that `memoize` kept."""
    for known in _memories:
        known.clear()
