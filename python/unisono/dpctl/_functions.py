"""Functions of ``dpctl.tensor`` beyond the array API standard's, and those with keywords of dpctl's own."""

from __future__ import annotations

import collections
import operator

import numpy as np

import unisono as un

from .. import _engine

TopK = collections.namedtuple("TopK", ("values", "indices"))


def _checked(x, name):
    if not isinstance(x, _engine._Array):
        raise TypeError(f"{name}: expected a usm_ndarray; got {type(x).__name__}")
    return x


def _floating(x, name, dtype):
    """The array in floats: those of a dtype that is asked for, its own, or float64."""
    if _checked(x, name).dtype.kind == "c":
        raise ValueError(
            f"{name}: complex numbers have no order; got dtype {x.dtype}; expected real ones"
        )
    wanted = None if dtype is None else un.dtype(dtype)
    if wanted is None or wanted.kind != "f":
        wanted = x.dtype if x.dtype.kind == "f" else un.dtype("float64")
    return x.astype(wanted, copy=False)


def _stored(result, name, dtype, out):
    if dtype is not None:
        result = result.astype(dtype, copy=False)
    return stored(result, name, out)


def stored(result, name, out):
    """The result, in `out` where one is given, which is of its shape and dtype."""
    if out is None:
        return result
    if not isinstance(out, _engine._Array):
        raise TypeError(f"{name}: Output array must be a usm_ndarray; got {type(out).__name__}")
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(
            f"{name}: The shape of input and output arrays are inconsistent; got {out.shape}; expected {result.shape}"
        )
    if out.dtype != result.dtype:
        raise ValueError(f"Output array of type {result.dtype} is needed, got {out.dtype}")
    out[...] = result
    return out


def top_k(x, k, /, *, axis=None, mode="largest"):
    """The largest or smallest elements and where they are.

    Parameters
    ----------
    x : usm_ndarray
    k : int
    axis : int, optional
        By default the array is flattened.
    mode : {"largest", "smallest"}

    Returns
    -------
    namedtuple of values and indices

    Raises
    ------
    ValueError
        For another mode, or if there are fewer elements.
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode is 'largest' or 'smallest'; got {mode!r}")
    k = operator.index(k)
    flat = _checked(x, "top_k").reshape(-1) if axis is None else x
    extent = flat.shape[axis or 0]
    if not 0 <= k <= extent:
        raise ValueError(
            f"top_k: `k`={k} is out of bounds; got {extent} elements; give up to that many"
        )
    return TopK(*un.top_k(flat, k, axis or 0, largest=mode == "largest"))


def logsumexp(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """Logarithm of the sum of exponentials, without overflow.

    Parameters
    ----------
    x : usm_ndarray
        Real.
    axis : int or tuple of int, optional
    dtype : dtype, optional
    keepdims : bool
    out : usm_ndarray, optional

    Returns
    -------
    usm_ndarray

    Examples
    --------
    >>> import unisono.dpctl.tensor as dpt
    >>> round(float(dpt.logsumexp(dpt.asarray([1000.0, 1000.0]))), 6)
    1000.693147
    """
    x = _floating(x, "logsumexp", dtype)
    top = un.max(x, axis=axis, keepdims=True, initial=-un.inf)
    top = un.where(un.isfinite(top), top, un.zeros_like(top))
    total = un.log(un.sum(un.exp(x - top), axis=axis, keepdims=True, dtype=x.dtype)) + top
    return _stored(_without_axes(total, axis, keepdims), "logsumexp", dtype, out)


def reduce_hypot(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """Square root of the sum of squares, without overflow; parameters as of `logsumexp`."""
    x = un.abs(_floating(x, "reduce_hypot", dtype))
    top = un.max(x, axis=axis, keepdims=True, initial=0)
    unit = un.where(un.isfinite(top) & (top > 0), top, un.ones_like(top))
    total = unit * un.sqrt(un.sum((x / unit) ** 2, axis=axis, keepdims=True, dtype=x.dtype))
    return _stored(_without_axes(total, axis, keepdims), "reduce_hypot", dtype, out)


def _without_axes(made, axis, keepdims):
    if keepdims:
        return made
    return made.reshape(()) if axis is None else un.squeeze(made, axis=axis)


def cumulative_logsumexp(x, /, *, axis=None, dtype=None, include_initial=False, out=None):
    """Logarithms of the sums of exponentials up to each element.

    Parameters
    ----------
    x : usm_ndarray
        Real.
    axis : int, optional
        By default the only one.
    dtype : dtype, optional
    include_initial : bool
        Whether minus infinity comes first.
    out : usm_ndarray, optional

    Returns
    -------
    usm_ndarray
    """
    x = _floating(x, "cumulative_logsumexp", dtype)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(
                f"cumulative_logsumexp: an axis is needed; got an array of {x.ndim} axes"
            )
        axis = 0
    x = x.reshape(1) if x.ndim == 0 else x
    made = un.logaddexp.accumulate(x, axis=axis)
    if include_initial:
        first = un.full_like(un.take(made, un.asarray([0]), axis=axis), -un.inf)
        made = un.concatenate([first, made], axis=axis)
    return _stored(made, "cumulative_logsumexp", dtype, out)


def _places(x, indices, axis, mode, name):
    """(the indices in range, the axis): "wrap" counts negative ones from the end, "clip" takes them for 0."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"{name}: `mode` must be 'wrap' or 'clip'; got {mode!r}")
    if axis is None:
        if _checked(x, name).ndim > 1:
            raise ValueError(f"{name}: an axis is needed; got an array of {x.ndim} axes")
        axis = 0
    if x.ndim and not -x.ndim <= axis < x.ndim:
        raise un.exceptions.AxisError(axis, x.ndim)
    indices = un.asarray(indices, device=x.device)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"{name}: `indices` expected integer data type, got {indices.dtype}")
    extent = x.shape[axis] if x.ndim else 1
    if indices.dtype.kind == "u":
        indices = un.minimum(indices, max(extent - 1, 0))
    indices = un.clip(indices.astype("int64"), -extent if mode == "wrap" else 0, max(extent - 1, 0))
    return un.where(indices < 0, indices + extent, indices), axis % max(x.ndim, 1)


def take(x, indices, /, *, axis=None, out=None, mode="wrap"):
    """Elements along an axis; indices out of range mean the nearest element.

    Parameters
    ----------
    x : usm_ndarray
    indices : usm_ndarray of int
    axis : int, optional
        By default the only one.
    out : usm_ndarray, optional
    mode : {"wrap", "clip"}
        Whether negative indices count from the end or mean 0.

    Returns
    -------
    usm_ndarray
    """
    indices, axis = _places(x, indices, axis, mode, "take")
    if x.size == 0 and indices.size and x.ndim and x.shape[axis] == 0:
        raise IndexError("take: cannot take non-empty indices from an empty axis")
    return stored(un.take(x if x.ndim else x.reshape(1), indices, axis=axis), "take", out)


def put(x, indices, vals, /, *, axis=None, mode="wrap"):
    """Set elements along an axis, as `take` gives them.

    Parameters
    ----------
    x : usm_ndarray
        It is changed.
    indices : usm_ndarray of int
    vals : usm_ndarray or number
    axis : int, optional
    mode : {"wrap", "clip"}
    """
    indices, axis = _places(x, indices, axis, mode, "put")
    if x.ndim == 0:
        if indices.size:
            x[...] = vals if not np.ndim(vals) else un.asarray(vals).reshape(-1)[-1]
        return
    if x.shape[axis] == 0 and indices.size:
        raise IndexError("put: cannot put values at non-empty indices of an empty axis")
    x[(slice(None),) * axis + (indices,)] = vals


def clip(x, /, min=None, max=None, out=None, order="K"):
    """Elements between bounds, whose dtypes the array's can hold.

    Parameters
    ----------
    x : usm_ndarray
    min, max : usm_ndarray or number, optional
    out : usm_ndarray, optional
    order : {"C", "F", "A", "K"}

    Returns
    -------
    usm_ndarray

    Raises
    ------
    ValueError
        If a bound is of a dtype that the array's cannot hold.
    """
    _checked(x, "clip")
    for bound in (min, max):
        is_array = isinstance(bound, (_engine._Array, np.ndarray, np.generic))
        if is_array and not un.can_cast(un.dtype(str(bound.dtype)), x.dtype, casting="safe"):
            raise ValueError(
                f"clip: a bound is of dtype {bound.dtype}; expected one that {x.dtype} can hold"
            )
    result = un.clip(x, min, max) if min is not None or max is not None else x.copy()
    return stored(in_order(result.astype(x.dtype, copy=False), order), "clip", out)


def in_order(result, order):
    """The result with its axes in memory as asked for."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order: expected 'C', 'F', 'A' or 'K'; got {order!r}")
    return result if order in "KA" else un.asarray(result, order=order)


def set_print_options(numpy=False, **options):
    """Set how arrays print: `unisono.set_printoptions`, or NumPy's options with ``numpy=True``."""
    if numpy:
        known = un.get_printoptions()
        options = {n: v for n, v in np.get_printoptions().items() if n in known}
    un.set_printoptions(**options)


def get_print_options():
    """How arrays print: a dict of `set_print_options`' parameters."""
    names = "linewidth edgeitems threshold precision floatmode suppress nanstr infstr sign".split()
    known = un.get_printoptions()
    return {n: known[n] for n in names}


def print_options(*args, **options):
    """A block with `set_print_options`."""
    return un.printoptions(*args, **options)


def sort(x, /, *, axis=-1, descending=False, stable=True, kind=None):
    """The elements in order along an axis; an array of rank 0 as it is. It is stable in any case."""
    return _in_order(un.sort, x, axis, descending, kind)


def argsort(x, /, *, axis=-1, descending=False, stable=True, kind=None):
    """Indices that put the elements in order along an axis; 0 of an array of rank 0. It is stable in any case."""
    return _in_order(un.argsort, x, axis, descending, kind)


def _in_order(function, x, axis, descending, kind):
    if kind not in (None, "stable", "mergesort", "radixsort"):
        raise ValueError(
            f"{function.__name__}: kind is 'stable', 'mergesort' or 'radixsort'; got {kind!r}"
        )
    if getattr(x, "ndim", None) == 0 and axis in (-1, 0):
        return function(x.reshape(1), descending=descending).reshape(())
    return function(x, axis=axis, descending=descending)
