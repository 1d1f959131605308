"""Functions of NumPy's main namespace that are methods of the array."""

from . import _engine
from ._creation import array, asarray


def _as(x):
    return x if isinstance(x, (_engine.ndarray, _engine.DistributedArray)) else asarray(x)


# The options that only some calls have are passed on where they are given.


def sum(x, axis=None, dtype=None, out=None, keepdims=False, **options):
    """Sum over `axis`; options are ``initial=`` and ``where=``; see ``ndarray.sum``."""
    if out is not None:
        options["out"] = out
    return _as(x).sum(axis, dtype, keepdims=keepdims, **options)


def prod(x, axis=None, dtype=None, out=None, keepdims=False, **options):
    """Product over `axis`; options are ``initial=`` and ``where=``; see ``ndarray.prod``."""
    if out is not None:
        options["out"] = out
    return _as(x).prod(axis, dtype, keepdims=keepdims, **options)


def max(x, axis=None, out=None, keepdims=False, **options):
    """Maximum over `axis`; NaN where any is NaN; options are ``initial=`` and ``where=``."""
    if out is not None:
        options["out"] = out
    return _as(x).max(axis=axis, keepdims=keepdims, **options)


def min(x, axis=None, out=None, keepdims=False, **options):
    """Minimum over `axis`; NaN where any is NaN; options are ``initial=`` and ``where=``."""
    if out is not None:
        options["out"] = out
    return _as(x).min(axis=axis, keepdims=keepdims, **options)


def any(x, axis=None, out=None, keepdims=False, **options):
    """Whether any element is true; an option is ``where=``."""
    if out is not None:
        options["out"] = out
    return _as(x).any(axis=axis, keepdims=keepdims, **options)


def all(x, axis=None, out=None, keepdims=False, **options):
    """Whether all elements are true; an option is ``where=``."""
    if out is not None:
        options["out"] = out
    return _as(x).all(axis=axis, keepdims=keepdims, **options)


def copy(a, order="K", subok=False):
    """Packed copy of `a`, in row-major order or, with ``order="F"``, in column-major order."""
    if isinstance(a, _engine.DistributedArray):
        return a.copy()
    made = array(a)
    return made.T.copy().T if order == "F" and made.ndim > 1 else made


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` converted to `dtype`, on another device where one is given; `x` itself if it is that and ``copy=False``."""
    x = _as(x)
    made = x if not copy and x.dtype == dtype else x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def reshape(x, /, shape, order="C", *, copy=None):
    """The elements of `x` in another shape: a view where strides allow it, else a copy.

    Parameters
    ----------
    x : array_like
    shape : int or tuple of ints
        One extent may be -1.
    order : {"C", "F", "A"}
        In which order elements are taken and placed.
    copy : bool, optional
        True always copies, False never does (ValueError where it would have to).

    Returns
    -------
    ndarray
    """
    if order == "C" and copy is None:
        return _as(x).reshape(shape)
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    return _as(x).reshape(shape, order=order, copy=copy)


def broadcast_to(array, shape, subok=False):
    """View of the array in that shape, read-only: axes of extent 1, and new ones in front, are repeated."""
    return _engine.broadcast_to(array, shape)


def transpose(a, axes=None):
    """View of `a` with permuted axes, reversed by default."""
    return _as(a).transpose(axes)


amax = max
amin = min
