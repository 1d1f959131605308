"""What the functions of linear algebra share: operands, calls of LAPACK, and their faults."""

from .. import _engine
from .._arrays.axes import as_array_beside
from .._dtype.objects import _table
from .._numpy.products import _array


def __getattr__(name):
    if name != "LinAlgError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # NumPy's own class, so that programs catch either; its import takes longer than most programs' algebra.
    from numpy.linalg import LinAlgError

    globals()[name] = LinAlgError
    return LinAlgError


def _linalg_error(message):
    """The error to raise."""
    return __getattr__("LinAlgError")(message)


def _floating(x, what):
    """`x` in the dtype in which linear algebra is done: integers become float64."""
    x = _array(x)
    if x.dtype.kind in "biu":
        return x.astype("float64")
    if x.dtype == object:
        raise TypeError(f"{what}: expected numbers; got an array of objects")
    if x.dtype.name == "float16":
        raise TypeError(
            f"{what}: array type float16 is unsupported in linalg; convert to float32 or float64"
        )
    return x


def _matrices(x, what, square=False):
    x = _floating(x, what)
    if x.ndim < 2:
        raise _linalg_error(
            f"{what}: {x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise _linalg_error(
            f"{what}: Last 2 dimensions of the array must be square; got shape {x.shape}"
        )
    return x


def _factors(what, x, y=None, option=0, limit=0.0):
    """The results of a factorisation; raises LinAlgError where there is none."""
    return _engine._lapack(what, x, y, option, limit)


def _pair(x, y):
    """Both arrays in one dtype."""
    if x.dtype == y.dtype:
        return x, y
    double = "float64" in (_real(x.dtype).name, _real(y.dtype).name)
    is_complex = "c" in (x.dtype.kind, y.dtype.kind)
    t = ("complex" if is_complex else "float") + str((64 if double else 32) << is_complex)
    return x.astype(t, copy=False), y.astype(t, copy=False)


def _epsilon(dtype):
    return 2.0**-23 if dtype.name in ("float32", "complex64") else 2.0**-52


def _broadcast_shapes(one, two):
    rank = max(len(one), len(two))
    one, two = (1,) * (rank - len(one)) + tuple(one), (1,) * (rank - len(two)) + tuple(two)
    shape = []
    for p, q in zip(one, two, strict=True):
        if p != q and 1 not in (p, q):
            raise ValueError(f"linalg: stacks of shapes {one} and {two} do not broadcast")
        shape.append(q if p == 1 else p)
    return tuple(shape)


def _real(dtype):
    return _table[{"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)]


def _cutoff(s, shape, rtol, dtype):
    if rtol is None:
        rtol = max(shape[-2:]) * _epsilon(dtype)
    return s.max(axis=-1, keepdims=True) * _of_stack(rtol, s)


def _of_stack(x, s):
    """A number, or numbers for each matrix of a stack beside those along the last axis of `s`."""
    if isinstance(x, (int, float)):
        return x
    x = as_array_beside(x, s)
    return x[..., None] if x.ndim else x
