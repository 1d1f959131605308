"""Weighted means, covariance and correlation."""

import builtins

import unisono

from .. import exceptions
from .._arrays.axes import as_array as _as
from .._arrays.axes import (
    as_array_beside,
    axes_tuple,
    axis_error,
    extent,
    flat,
    number_without_axes,
)
from .statistics import _check_counts, _common, _is_inexact, mean


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Weighted mean over `axis`: sum(x * weights) / sum(weights).

    Parameters
    ----------
    a : array_like
    axis : int or tuple of ints, optional
    weights : array_like, optional
        Of the shape of `a`, or of its extents along `axis`; all 1 by default.
    returned : bool
        Also return the sum of the weights.
    keepdims : bool

    Returns
    -------
    ndarray, or a tuple of the average and the sum of weights

    Raises
    ------
    ZeroDivisionError
        If the weights sum to zero.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.average([1.0, 2.0, 4.0], weights=[1, 1, 2]))
    2.75
    """
    a = _as(a)
    if weights is None:
        try:
            result = mean(a, axis, keepdims=keepdims)
        except exceptions.AxisError as error:
            raise axis_error("average", error) from None
        if not returned:
            return result
        count = unisono.full(result.shape, extent(a, axis), result.dtype, device=a.device)
        return result, number_without_axes(count)
    weights = _weights_like(a, as_array_beside(weights, a), axis)
    compute = _common(a.dtype, weights.dtype)
    if not _is_inexact(a.dtype):
        compute = _common(compute, "float64")
    scale = weights.sum(axis, compute, keepdims=keepdims)
    if builtins.bool((scale == 0).any()):
        raise ZeroDivisionError("average: weights sum to zero, they cannot be normalised")
    product = a.astype(compute, copy=False) * weights.astype(compute, copy=False)
    result = product.sum(axis, keepdims=keepdims) / scale
    if not returned:
        return result
    return result, number_without_axes(unisono.broadcast_to(scale, result.shape).copy())


def _weights_like(x, weights, axis):
    if weights.shape == x.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"average: axis must be given when shapes of x and weights differ; got {x.shape} and {weights.shape}"
        )
    axes = axes_tuple(axis, x.ndim, "average")
    if weights.shape != tuple(x.shape[k] for k in axes):
        raise ValueError(
            f"average: weights do not fit x along axis {axis}; got shape {weights.shape}, "
            f"expected {tuple(x.shape[k] for k in axes)}"
        )
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    weights = weights.transpose(order)
    weights = weights.reshape(tuple(n if k in axes else 1 for k, n in enumerate(x.shape)))
    return unisono.broadcast_to(weights, x.shape)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance matrix of variables whose observations lie in rows (or columns).

    Parameters
    ----------
    m : array_like, at most 2-d
        One variable per row; per column with ``rowvar=False``.
    y : array_like, optional
        More variables in the same form.
    rowvar, bias : bool
        With `bias` the divisor is the count, else the count minus 1.
    ddof : int, optional
        Overrides `bias`.
    fweights, aweights : array_like, 1-d, optional
        How often each observation counts; how reliable it is.
    dtype : dtype, optional
        At least float64 by default.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `m` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: ddof must be an integer; got {ddof}")
    x = as_array_beside(m, y)
    if x.ndim > 2:
        raise ValueError(f"cov: m has more than 2 dimensions; got shape {x.shape}")
    if y is not None and _as(y).ndim > 2:
        raise ValueError(f"cov: y has more than 2 dimensions; got shape {_as(y).shape}")
    if dtype is not None and unisono.dtype(dtype).kind not in "fc":
        raise TypeError(
            f"cov: distances from the mean have fractions; got dtype {unisono.dtype(dtype)}; expected floats or complex numbers"
        )
    dtype = dtype or _common(x.dtype, "float64", *([] if y is None else [_as(y).dtype]))
    x = _rows(x, rowvar).astype(dtype, copy=False)
    if x.shape[0] == 0:
        return unisono.zeros((0, 0), device=x.device)
    if y is not None:
        more = _rows(as_array_beside(y, x), rowvar).astype(dtype, copy=False)
        both = unisono.empty((x.shape[0] + more.shape[0], x.shape[1]), dtype, device=x.device)
        both[: x.shape[0]] = x
        both[x.shape[0] :] = more
        x = both
    if ddof is None:
        ddof = 0 if bias else 1
    weights = _observation_weights(fweights, aweights, x)
    x = x - average(x, 1, weights)[:, None]
    freedom = _freedom(weights, aweights, x.shape[1], ddof)
    _check_counts(freedom > 0, "Degrees of freedom <= 0 for slice")
    factor = builtins.max(freedom, 0.0)
    product = _outer_product(x, x if weights is None else x * weights)
    product = product * (1 / factor) if factor else product / 0.0
    return product.reshape(_squeezed(product.shape))


def _freedom(weights, aweights, count, ddof):
    """What a covariance divides by."""
    if weights is None:
        return count - ddof
    total = float(weights.sum())
    if ddof == 0 or aweights is None:
        return total - ddof
    return total - ddof * float((weights * as_array_beside(aweights, weights)).sum()) / total


def _squeezed(shape):
    return tuple(n for n in shape if n != 1)


def _rows(x, rowvar):
    if x.ndim < 2:
        return x.reshape((1, x.size))
    return x if rowvar else x.T


def _observation_weights(fweights, aweights, x):
    weights, count = None, x.shape[1]
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        given = as_array_beside(given, x)
        if given.ndim > 1:
            raise RuntimeError(
                f"cov: cannot handle multidimensional {name}; got shape {given.shape}"
            )
        if given.shape[0] != count:
            raise RuntimeError(
                f"cov: incompatible numbers of samples and {name}; got {given.shape[0]}, expected {count}"
            )
        if builtins.bool((given < 0).any()):
            raise ValueError(f"cov: {name} cannot be negative")
        if name == "fweights" and _is_inexact(given.dtype):
            if not builtins.bool((given == unisono.rint(given)).all()):
                raise TypeError("cov: fweights must be integers")
        given = given.astype("float64", copy=False)
        weights = given if weights is None else weights * given
    return weights


def _outer_product(x, right):
    """The products of all pairs of rows, summed: x times the conjugate transpose of `right`."""
    if right.dtype.kind == "c":
        right = unisono.conj(right)
    matmul = getattr(unisono, "matmul", None)
    if matmul is not None:
        return matmul(x, right.T)
    return (x[:, None, :] * right[None, :, :]).sum(2)


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Correlation coefficients: `cov`, scaled so that the diagonal is 1.

    Parameters
    ----------
    x, y : array_like
    rowvar : bool
        Rows are variables.
    dtype : dtype, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` or `y` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    n = c.shape[0]
    deviation = unisono.sqrt(flat(c)[:: n + 1].real if c.dtype.kind == "c" else flat(c)[:: n + 1])
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind != "c":
        c = unisono.minimum(unisono.maximum(c, -1.0), 1.0)
    return c
