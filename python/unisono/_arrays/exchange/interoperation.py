"""NumPy's protocols for the array type, and pickling."""

import unisono

from ..._records import holds_records
from .from_data import from_bytes
from .numpys_elements import (
    as_numpys_number,
    computed,
    growing,
    has_functions,
    is_number,
    results,
    writes_first,
)


def _ours(name, where=unisono):
    """Our function of that name, or None."""
    found = getattr(where, name, None)
    return found if callable(found) else None


def counterpart(ufunc):
    """Our function for NumPy's, or None: other libraries have functions of the same names."""
    import numpy

    if isinstance(ufunc, unisono.ufunc):  # what a subclass that overrides __array_ufunc__ passes on
        return ufunc
    name = ufunc.__name__
    return _ours(name) if getattr(numpy, name, None) is ufunc else None


def array_ufunc(self, ufunc, method, *inputs, **options):
    """Run unisono's ufunc (or its method) of the same name; on numbers any ufunc runs itself.

    NumPy's itself runs, too, where an array of NumPy's stands beside numbers of ours: a number makes none of it ours.
    """
    name = ufunc.__name__
    if isinstance(ufunc, unisono.ufunc):
        from ..subclasses import computing

        if computing((*inputs, *(options.get("out") or ()))):
            return NotImplemented  # these are asked, too
    if not _holds_array((inputs, options.get("out"))) and _is_numpys_array(
        x for x in inputs if getattr(x, "ndim", 0)
    ):
        return getattr(ufunc, method)(*map(as_numpys_number, inputs), **options)
    ours = counterpart(ufunc)
    if ours is None and all(getattr(x, "ndim", 0) == 0 for x in inputs):
        return getattr(ufunc, method)(*map(_as_numpys, inputs), **options)
    if ours is not None and method != "__call__":
        ours = getattr(ours, method, None)
        name = f"{name}.{method}"
    if ours is None:
        return _by_other_library(name, getattr(ufunc, method), inputs, options)
    out = options.get("out")
    if out is not None and ours is not None and not hasattr(ours, "nin") and _is_numpys_array(out):
        options["out"] = tuple(map(_as_numpys, out))
        return getattr(ufunc, method)(*map(_as_numpys, inputs), **options)
    if out is not None and len(out) == 1 and method != "__call__":
        options["out"] = out[0]
    return ours(*inputs, **options)


def numpys_own(x):
    """NumPy's array of text, bytes, dates, time differences or records; of objects if `x` is one; else None."""
    import numpy

    if not isinstance(x, numpy.ndarray) and not _begins_with_text(x):
        return None
    made = numpy.asarray(x)
    return made if made.dtype.kind in ("USMmVOT" if made is x else "USMmT") else None


def _begins_with_text(x):
    """Whether the first element of nested sequences is text, or a date or time difference of NumPy's."""
    import numpy

    while isinstance(x, (list, tuple)) and x:
        x = x[0]
    return isinstance(x, (str, bytes, numpy.character, numpy.datetime64, numpy.timedelta64))


def _is_numpys(x):
    """Whether an argument holds what NumPy alone computes."""
    import numpy

    if isinstance(x, (list, tuple)):
        return any(map(_is_numpys, x[:2]))
    dtype = getattr(x, "dtype", None)
    return isinstance(x, (str, bytes)) or (
        isinstance(dtype, numpy.dtype) and dtype.kind in "USMmVOT"
    )


def _as_numpys(x):
    import numpy

    if type(x) in (list, tuple):
        return type(x)(map(_as_numpys, x))
    return numpy.asarray(x) if hasattr(type(x), "__array_function__") else x


def array_function(self, function, types, args, options):
    """Run unisono's function of the same name, in the same sub-package, instead of NumPy's.

    NumPy's itself runs where text stands beside our arrays, where NumPy's array is written, and of numbers of ours.
    """
    if any(map(has_functions, types)):
        return NotImplemented  # their class is asked, too
    if isinstance(function, unisono._engine._FastPath) or function is unisono.where:
        from ..subclasses import implementation_of  # what a class that overrides this passes on

        return implementation_of(function)(args, options)
    if is_number(self) and not _holds_array((args, options.values())):
        named = {k: _as_numpys_numbers(v) for k, v in options.items()}
        return function(*map(_as_numpys_numbers, args), **named)
    if holds_records(args):
        from ..._records.records import by_numpy

        return by_numpy(function, *args, **options)
    written = args[:1] if function.__name__ in writes_first else (options.get("out"),)
    if _is_numpys_array(written):
        return function(*map(_as_numpys, args), **{k: _as_numpys(v) for k, v in options.items()})
    if function.__name__ in growing:
        # Compiled code takes what they make, SciPy's optimizers gradients and Jacobians: NumPy's, as of numpy.asarray.
        made = computed(function, args, options)
        if made is not NotImplemented:
            return made
    joins = function.__name__ in _takes_none and None in (
        a for a in args if not hasattr(a, "dtype")
    )
    if joins or (any(map(_is_numpys, args)) and function.__name__ not in _takes_texts):
        return function(*map(_as_numpys, args), **{k: _as_numpys(v) for k, v in options.items()})
    where = unisono
    for part in (getattr(function, "__module__", None) or "numpy").split(".")[1:]:
        if part not in ("linalg", "fft", "random", "lib", "stride_tricks"):
            break
        where = getattr(where, part, None)
    ours = _ours(function.__name__, where)
    if ours is function:  # NumPy's own, under our name
        return function(*map(_as_numpys, args), **{k: _as_numpys(v) for k, v in options.items()})
    if ours is None:
        return _by_other_library(f"numpy.{function.__name__}", function, args, options)
    return ours(*args, **options)


def _holds_array(x):
    """Whether an array of ours, no number, is in nested sequences."""
    if isinstance(x, unisono._engine._Array):
        return not x._is_value()
    return isinstance(x, (list, tuple, _Values)) and any(map(_holds_array, x))


_Values = type({}.values())


def _as_numpys_numbers(x):
    if type(x) in (list, tuple):
        return type(x)(map(_as_numpys_numbers, x))
    return as_numpys_number(x)


def _by_other_library(name, function, args, options):
    """Results of a function that is not ours, on the arrays' memory; arrays and numbers among them are ours."""
    made = computed(function, args, options)
    if made is NotImplemented:
        raise TypeError(
            f"{name}: not supported for arrays of devices; "
            "convert with np.asarray, or use a function of unisono"
        )
    return results(made)


def _is_numpys_array(written):
    import numpy

    return any(isinstance(x, numpy.ndarray) for x in written)


# Functions for which None is an element, as matplotlib has it.
_takes_none = frozenset(("atleast_1d", "broadcast_arrays"))
# Functions of arrays with a text among their parameters that is no element.
_takes_texts = frozenset(
    "einsum einsum_path pad savetxt save array2string searchsorted quantile percentile ravel_multi_index".split()
)


def to_numpy(self, dtype=None, copy=False, na_value=None):
    """NumPy's array of the elements, which shares memory unless converted or copied; nothing is missing in it."""
    import numpy

    made = numpy.asarray(self, dtype=dtype)
    return made.copy() if copy and numpy.may_share_memory(made, numpy.asarray(self)) else made


def factorize(self, use_na_sentinel=True):
    """Codes and distinct elements as ``pandas.factorize`` gives them of NumPy's array."""
    import pandas

    return pandas.factorize(to_numpy(self), use_na_sentinel=use_na_sentinel)


def pandas_type(self):
    """The mark by which pandas knows arrays that `to_numpy` unpacks; numbers are without it."""
    _needs_axes(self, "_typ")
    return "npy_extension"


def has_missing(self):
    """Whether elements are masked, which pandas asks of arrays that are not NumPy's: never."""
    _needs_axes(self, "_hasna")
    return False


def matvec(self):
    """The product of a matrix and a vector, by which scipy.sparse.linalg knows linear operators that are not NumPy's."""
    _needs_two_axes(self, "matvec")
    return self.__matmul__


def rmatvec(self):
    """The product of the conjugate transpose and a vector; as `matvec`."""
    _needs_two_axes(self, "rmatvec")
    return self.mT.conj().__matmul__


def _needs_two_axes(self, name):
    if self.ndim != 2:
        raise AttributeError(
            f"'unisono.ndarray' object of {self.ndim} axes has no attribute {name!r}: it is not a matrix"
        )


def _needs_axes(self, name):
    if self.ndim == 0:
        raise AttributeError(f"'unisono.ndarray' object without axes has no attribute {name!r}")


class OfNumpy:
    """Makes NumPy's arrays where pandas asks a dtype for its class of arrays."""

    @classmethod
    def _from_sequence(cls, scalars, *, dtype=None, copy=False):
        import numpy

        return numpy.array(scalars, dtype=dtype, copy=copy or None)


def reduce_array(self):
    """Shape, dtype name and bytes; no shape of a value."""
    host = self.to_device("cpu")
    shape = None if self._is_value() else host.shape
    return _rebuild, (shape, host.dtype.name, host.tobytes())


def reduce_array_ex(self, protocol, /):
    """As `reduce_array`; of protocol 5 on with a buffer, which a pickle may leave out (``buffer_callback=``)."""
    if protocol < 5 or type(self) is not unisono.ndarray or self._is_value() or self.size == 0:
        return self.__reduce__()
    import pickle

    host = self.to_device("cpu")
    if not (host.flags.c_contiguous and host.flags.writeable):
        host = host.copy()
    return _over_buffer, (host.shape, host.dtype.name, pickle.PickleBuffer(host))


def _over_buffer(shape, dtype, buffer):
    """The array in the buffer's memory."""
    return unisono.frombuffer(buffer, dtype).reshape(shape)


def _rebuild(shape, dtype, data):
    if not data:
        return unisono.empty(shape, dtype)
    flat = from_bytes(data, dtype)
    return flat[0] if shape is None else flat.copy().reshape(shape)
