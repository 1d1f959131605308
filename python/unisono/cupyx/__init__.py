"""CuPy's package ``cupyx`` over this library: ``import unisono.cupyx as cupyx``.

`scipy` has SciPy's functions for arrays of ours, `profiler` times calls.
"""

from __future__ import annotations

import unisono as _un

from .._numpy.float_errors import errstate as _float_errors
from .._numpy.float_errors import geterr, seterr
from .._runtime.waits import DeviceSynchronized, allow_synchronize
from . import jit, profiler, scipy
from .gufunc import GeneralizedUFunc

__all__ = [
    "DeviceSynchronized",
    "GeneralizedUFunc",
    "allow_synchronize",
    "empty_like_pinned",
    "empty_pinned",
    "errstate",
    "get_runtime_info",
    "geterr",
    "jit",
    "profiler",
    "rsqrt",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scipy",
    "seterr",
    "zeros_like_pinned",
    "zeros_pinned",
]


class errstate(_float_errors):
    """`unisono.errstate`, with CuPy's word for errors of linear algebra, which are raised in any case.

    Parameters
    ----------
    linalg : {None, "raise"}
        What happens for singular matrices.
    fallback_mode : None
    **treatments : str, optional
        As of `unisono.errstate`.

    Raises
    ------
    ValueError
        For another treatment of errors of linear algebra.

    Examples
    --------
    >>> import unisono.cupy as cp, unisono.cupyx as cupyx
    >>> with cupyx.errstate(linalg="raise"):
    ...     cp.linalg.inv(cp.zeros((2, 2)))
    Traceback (most recent call last):
    numpy.linalg.LinAlgError: inv: Singular matrix
    """

    def __init__(self, *, linalg=None, fallback_mode=None, **treatments):
        if linalg not in (None, "raise"):
            raise ValueError(
                f"errstate: errors of linear algebra are raised; got linalg={linalg!r}; expected 'raise'"
            )
        super().__init__(**treatments)


def rsqrt(x):
    """One over the square root of each element.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import unisono as un, unisono.cupyx as cupyx
    >>> cupyx.rsqrt(un.asarray([1.0, 4.0])).tolist()
    [1.0, 0.5]
    """
    return 1 / _un.sqrt(x)


def scatter_add(a, slices, value):
    """Add values at indices, those that occur several times several times: ``un.add.at``.

    Parameters
    ----------
    a : ndarray
        It is changed.
    slices : index
        As of ``a[slices]``.
    value : array_like

    Examples
    --------
    >>> import unisono as un, unisono.cupyx as cupyx
    >>> a = un.zeros(3)
    >>> cupyx.scatter_add(a, un.asarray([0, 2, 2]), 1.0)
    >>> a.tolist()
    [1.0, 0.0, 2.0]
    """
    _un.add.at(a, slices, value)


def scatter_max(a, slices, value):
    """The larger of elements and values at indices: ``un.maximum.at``."""
    _un.maximum.at(a, slices, value)


def scatter_min(a, slices, value):
    """The smaller of elements and values at indices: ``un.minimum.at``."""
    _un.minimum.at(a, slices, value)


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array, from which devices copy; elements are undefined."""
    import numpy

    return numpy.empty(shape, dtype, order)


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros, from which devices copy."""
    import numpy

    return numpy.zeros(shape, dtype, order)


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """`empty_pinned` of the shape and dtype of another array."""
    import numpy

    return numpy.empty(a.shape if shape is None else shape, dtype or a.dtype.name)


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """`zeros_pinned` of the shape and dtype of another array."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


def get_runtime_info(*, full=True):
    """What ``python -m unisono doctor`` prints, as text.

    Returns
    -------
    str
    """
    return "\n".join(f"{d.name}: {d.description}" for d in _un.devices())
