"""Functions of arrays that compiled code does not know itself: the interpreter runs them in its place.

The engine asks here while it compiles. What such a function gives is inferred by calling it with small
arrays of the same dtypes and ranks, and with the constants of the call; the run-time part tests it.
"""

from __future__ import annotations

import ast
import functools
import sys
import warnings

from .. import _engine

_SCALARS = {"float": 0.5, "bool": True, "complex": 0.5 + 0.5j}
_SAMPLES = ((3, 1), (2, 1), (4, 1), (1, 1), (3, 2), (3, 0))  # extent of arrays, and integers


# Functions whose calls with other arguments, while compiling, change nothing: no files, no settings.
_PURE = frozenset(
    """abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh arcsin
    arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array array_equal
    array_equiv array_split asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin
    asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett bincount bitwise_and
    bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    blackman block broadcast_arrays broadcast_shapes broadcast_to cbrt ceil choose clip column_stack
    compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh
    count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag
    diag_indices diag_indices_from diagflat diagonal diff digitize divide divmod dot dsplit dstack ediff1d
    einsum empty empty_like equal exp exp2 expand_dims expm1 extract eye fabs fill_diagonal fix
    flatnonzero flip fliplr flipud float_power floor floor_divide fmax fmin fmod frexp full full_like gcd
    geomspace gradient greater greater_equal hamming hanning heaviside histogram histogram2d
    histogram_bin_edges histogramdd hsplit hstack hypot i0 identity imag indices inner insert interp
    intersect1d invert isclose iscomplex iscomplexobj isfinite isin isinf isnan isneginf isposinf isreal
    isrealobj ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2
    logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul
    matrix_transpose matvec max maximum mean median meshgrid min minimum mod modf moveaxis multiply
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
    nanprod nanquantile nanstd nansum nanvar ndim negative nextafter nonzero not_equal ones ones_like
    outer packbits pad partition percentile permute_dims place poly polyadd polyder polydiv polyfit
    polyint polymul polysub polyval positive pow power prod ptp put put_along_axis putmask quantile
    rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder repeat reshape resize
    right_shift rint roll rollaxis roots rot90 round row_stack searchsorted select setdiff1d setxor1d
    shape sign signbit sin sinc sinh size sort sort_complex spacing split sqrt square stack std
    subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril
    tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide trunc
    union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unstack
    unwrap vander var vdot vecdot vecmat vsplit vstack where zeros zeros_like""".split()
)
_PURE_METHODS = frozenset(
    """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod
    cumsum diagonal dot fill flatten item max mean min nonzero partition prod ptp put ravel repeat reshape
    round searchsorted sort std sum swapaxes take trace transpose var view""".split()
)


def path_of(value):
    """Where a function of NumPy, or ours of the same name, stands: "sort", "fft.rfft"; else None."""
    name = getattr(value, "__name__", None)
    if name is None or isinstance(value, type) or not callable(value):
        return None
    home = getattr(value, "__module__", None) or type(value).__module__
    if home.split(".")[0] not in ("numpy", "unisono"):
        return None
    numpy, ours = sys.modules.get("numpy"), sys.modules["unisono"]
    if name in _PURE and any(getattr(m, name, None) is value for m in (numpy, ours) if m):
        return name
    for part in ("linalg", "fft"):
        for owner in (numpy, ours):
            # One that nobody has imported holds no function that somebody has.
            module = sys.modules.get(f"{owner.__name__}.{part}") if owner is not None else None
            if module is not None and getattr(module, name, None) is value:
                return f"{part}.{name}"
    return None


def _functions(path):
    """The functions of arrays at a path: ours, then NumPy's."""
    import numpy as np

    import unisono

    if path.startswith("."):
        name = path[1:]
        if name not in _PURE_METHODS or not callable(getattr(unisono.ndarray, name, None)):
            return []
        return [lambda array, *args, **named: getattr(array, name)(*args, **named)]
    found = [functools.reduce(_part, path.split("."), module) for module in (unisono, np)]
    made = [found[0]] if callable(found[0]) else []
    return [*made, _of_numpy(found[1])] if callable(found[1]) else made


def _part(owner, name):
    return getattr(owner, name, None)


def _of_numpy(function):
    """A function of NumPy that takes arrays of ours: in the same memory."""

    def call(*args, **named):
        return function(*map(_numpy, args), **{k: _numpy(v) for k, v in named.items()})

    return call


def _numpy(value):
    import numpy as np

    import unisono

    if isinstance(value, tuple):
        return tuple(_numpy(v) for v in value)
    return np.asarray(value) if isinstance(value, unisono._engine._Array) else value


def _sample(described, size, number):
    """An argument of this description: a small array, or the constant that the call has."""
    import numpy as np

    import unisono

    kind = described[0]
    if kind == "array":
        dtype, rank, is_writable = described[1:]
        flat = np.arange(1, size**rank + 1)
        if rank == 2:
            flat = flat + (9 * np.eye(size, dtype=int)).ravel()
        if dtype.startswith(("int", "uint")):
            flat = flat % max(size, 2)
        made = unisono.asarray(flat.reshape((size,) * rank).astype(dtype))
        return made if is_writable else unisono.broadcast_to(made, made.shape)
    if kind == "scalar":
        dtype, weak, value = described[1:]
        if value is not None:
            return value
        value = number if weak in ("int", "") else _SCALARS[weak]
        return value if weak else np.dtype(dtype).type(value)
    if kind == "dtype":
        return described[1]
    if kind == "tuple":
        return tuple(_sample(d, size, number) for d in described[1])
    return described[1] if kind == "text" else None


def _spec(result):
    """The type of a result as signatures.py writes it; None where compiled code has no such type."""
    import numpy as np

    import unisono

    if result is None:
        return ("none",)
    if type(result) in (bool, int, float, complex):
        dtype = np.dtype(type(result)).name
        return ("scalar", dtype, {"complex128": ""}.get(dtype, type(result).__name__))
    if isinstance(result, tuple):
        items = tuple(_spec(item) for item in result)
        return None if None in items else ("tuple", items)
    if not isinstance(
        result, (np.ndarray, np.generic, unisono._engine._Array, *unisono._engine._values)
    ):
        return None
    name = result.dtype.name
    if name not in unisono._dtype.objects._table or name in ("float16", "bfloat16"):
        return None
    return ("array", name, result.ndim, "A") if result.ndim else ("scalar", name, "")


def _arrays(value):
    import numpy as np

    import unisono

    if isinstance(value, tuple):
        return [a for item in value for a in _arrays(item)]
    return [value] if isinstance(value, (np.ndarray, unisono._engine._Array)) and value.ndim else []


def _plain(result):
    """What a block gives back: arrays without axes as numbers."""
    if isinstance(result, tuple):
        return tuple(_plain(item) for item in result)
    return result.item() if getattr(result, "ndim", None) == 0 else result


def _taken(described, given):
    """The argument when the program runs: what was not constant is the next of those given."""
    kind = described[0]
    if kind == "tuple":
        return tuple(_taken(d, given) for d in described[1])
    if kind in ("array", "scalar") or described == ("text", None):
        return next(given)
    return described[1] if kind in ("text", "dtype") else None


def _block(function, described):
    def block(*given):
        import numpy as np

        import unisono

        given = [unisono.asarray(v, copy=False) if isinstance(v, np.ndarray) else v for v in given]
        values = iter(given)
        made = [(name, _taken(d, values)) for name, d in described]
        args = [v for name, v in made if not name]
        result = _plain(function(*args, **{name: v for name, v in made if name}))
        # What was stored into arguments is there before compiled code goes on, and nothing that is
        # still to be computed reads them: they are lent.
        unisono.synchronize()
        return (result,)

    return block


@functools.cache
def infer(path, text):
    """(number of the block that calls it, type of the result, whether it may be a view), or None."""
    described = ast.literal_eval(text)
    for function in _functions(path):
        calls = (_called(function, described, *sample) for sample in _SAMPLES)
        found = next((r for r in calls if r is not None), None)
        if found is None:
            continue
        spec, is_view = found
        if spec is None:
            return None
        return _engine._python_block(_block(function, described)), spec, int(is_view)
    return None


def _called(function, described, size, number):
    """(type of the result, whether it is a view) for arrays of that size; None where it fails."""
    import numpy as np

    values = [(name, _sample(d, size, number)) for name, d in described]
    args = [v for name, v in values if not name]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*args, **{name: v for name, v in values if name})
            results = [np.asarray(a) for a in _arrays(result)]
    except Exception:
        return None
    given = [np.asarray(a) for _, v in values for a in _arrays(v)]
    return _spec(result), any(np.shares_memory(a, b) for a in results for b in given)
