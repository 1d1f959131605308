"""Functions of NumPy's main namespace that are methods of the array."""

from . import _engine
from ._creation import array, asarray


def _as(x):
    return x if isinstance(x, (_engine.ndarray, _engine.DistributedArray)) else asarray(x)


def sum(x, axis=None, dtype=None, keepdims=False):
    """Sum over `axis`; see ``ndarray.sum``."""
    return _as(x).sum(axis, dtype, keepdims=keepdims)


def prod(x, axis=None, dtype=None, keepdims=False):
    """Product over `axis`; see ``ndarray.prod``."""
    return _as(x).prod(axis, dtype, keepdims=keepdims)


def max(x, axis=None, keepdims=False):
    """Maximum over `axis`; NaN where any is NaN."""
    return _as(x).max(axis=axis, keepdims=keepdims)


def min(x, axis=None, keepdims=False):
    """Minimum over `axis`; NaN where any is NaN."""
    return _as(x).min(axis=axis, keepdims=keepdims)


def any(x, axis=None, keepdims=False):
    """Whether any element is true."""
    return _as(x).any(axis=axis, keepdims=keepdims)


def all(x, axis=None, keepdims=False):
    """Whether all elements are true."""
    return _as(x).all(axis=axis, keepdims=keepdims)


def copy(x):
    """Packed copy of `x`."""
    return x.copy() if isinstance(x, _engine.DistributedArray) else array(x)


def astype(x, dtype, copy=True):
    """`x` converted to `dtype`."""
    return _as(x).astype(dtype, copy=copy)


def reshape(x, shape):
    """The elements of `x` in another shape: a view where strides allow it, else a copy."""
    return _as(x).reshape(shape)


def transpose(x, axes=None):
    """View of `x` with permuted axes, reversed by default."""
    return _as(x).transpose(axes)


amax = max
amin = min
