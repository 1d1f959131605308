"""Norms of vectors and matrices, and condition numbers."""

import math
import operator

from .._numpy.products import _array, _axis
from . import _checks
from ._checks import _linalg_error, _matrices, _real
from ._decompositions import svd
from ._solving import inv


def cond(x, p=None):
    """Condition numbers of matrices.

    Parameters
    ----------
    x : array_like, shape (..., m, n)
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro'}, optional
        Norm; None is 2.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.cond([[2.0, 0.0], [0.0, 1.0]]))
    2.0
    """
    import unisono

    x = _matrices(x, "cond")
    if 0 in x.shape[-2:]:
        raise _linalg_error("cond: cond is not defined on empty arrays")
    if x.size == 0:  # no matrix at all
        _matrices(x, "cond", square=p not in (None, 2, -2))
        return unisono.empty(x.shape[:-2], _real(x.dtype), device=x.device)
    if p is None or p == 2 or p == -2:
        s = svd(x, compute_uv=False)
        made = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        unknown = unisono.isnan(x).any(axis=(-2, -1))  # else NaN comes of singular matrices: 0 / 0
        return unisono.where(unisono.isnan(made) & ~unknown, math.inf, made)
    _matrices(x, "cond", square=True)
    try:
        other = inv(x)
    except _checks.LinAlgError:
        if x.ndim > 2:
            parts = x.reshape((-1, *x.shape[-2:]))
            values = [float(cond(parts[k], p)) for k in range(parts.shape[0])]
            made = unisono.asarray(values, dtype=_real(x.dtype), device=x.device)
            return made.reshape(x.shape[:-2])
        known = math.nan if bool(unisono.isnan(x).any()) else math.inf
        return unisono.array(known, dtype=_real(x.dtype))
    axes = (-2, -1)
    return norm(x, p, axis=axes) * norm(other, p, axis=axes)


def _vector_norm(x, order, axis, keepdims):
    """Of the vectors along `axis` (an int, a tuple or None for all)."""
    import unisono

    if order is None or order == 2:
        if x.dtype.kind == "c":
            square = unisono.real(x) ** 2 + unisono.imag(x) ** 2
        else:
            square = x * x
        return unisono.sqrt(square.sum(axis=axis, keepdims=keepdims))
    size = abs(x)
    if order == math.inf:
        return size.max(axis=axis, keepdims=keepdims, initial=None if size.size else 0)
    if order == -math.inf:
        return size.min(axis=axis, keepdims=keepdims)
    if order == 0:
        return (x != 0).astype(_real(x.dtype)).sum(axis=axis, keepdims=keepdims)
    if order == 1:
        return size.sum(axis=axis, keepdims=keepdims)
    if isinstance(order, str):
        raise ValueError(f"norm: Invalid norm order '{order}' for vectors")
    return unisono.power(unisono.power(size, order).sum(axis=axis, keepdims=keepdims), 1 / order)


def _greatest(x):
    """Along the last axis; 0 where there is nothing."""
    return x.max(axis=-1, initial=None if x.size else 0)


def _matrix_norm(x, order, keepdims):
    """Of the last two axes."""
    if order in (None, "fro", "f"):
        return _vector_norm(x, 2, (-2, -1), keepdims)
    if order in (2, -2, "nuc"):
        s = svd(x, compute_uv=False)
        if order == "nuc":
            made = s.sum(axis=-1)
        else:
            made = _greatest(s) if order == 2 else s.min(axis=-1)
    elif order in (1, -1, math.inf, -math.inf):
        sums = abs(x).sum(axis=-2 if abs(order) == 1 else -1)
        made = _greatest(sums) if order > 0 else sums.min(axis=-1)
    else:
        raise ValueError(
            f"norm: Invalid norm order {order!r} for matrices; expected None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        )
    return made[..., None, None] if keepdims else made


def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of vectors or matrices.

    Parameters
    ----------
    x : array_like
    ord : {int, float, inf, -inf, 'fro', 'nuc'}, optional
        None: the root of the sum of squares.
    axis : int or pair of ints, optional
        Of the vectors, or of the matrices; None: of the whole array.
    keepdims : bool

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.norm([3.0, 4.0]))
    5.0
    """
    x = _floating16(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            return _vector_norm(x, 2, None, keepdims)
        axis = tuple(range(x.ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (operator.index(axis),)
    axes = [_axis(k, x.ndim, "norm") for k in axes]
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("norm: Improper number of dimensions to norm; expected one or two axes")
    if axes[0] == axes[1]:
        raise ValueError("norm: Duplicate axes given")
    if ord in (None, "fro", "f"):
        return _vector_norm(x, 2, tuple(axes), keepdims)
    made = _matrix_norm(x.transpose([k for k in range(x.ndim) if k not in axes] + axes), ord, False)
    if keepdims:
        made = made.reshape([1 if k in axes else n for k, n in enumerate(x.shape)])
    return made


def _floating16(x):
    x = _array(x)
    return x.astype("float64") if x.dtype.kind in "biu" else x


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of the vectors along an axis, several axes, or of all elements.

    Parameters
    ----------
    x : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    ord
        Which norm.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.vector_norm([[3.0, 4.0], [0.0, 1.0]], axis=1).tolist()
    [5.0, 1.0]
    """
    x = _floating16(x)
    if isinstance(axis, list):
        axis = tuple(axis)
    return _vector_norm(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of matrices.

    Parameters
    ----------
    x : array_like
    keepdims : bool
        Keep the reduced axes, with extent 1.
    ord
        Which norm.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]]))
    5.0
    """
    x = _floating16(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_norm: expected at least two dimensions; got shape {x.shape}")
    return _matrix_norm(x, ord, keepdims)
