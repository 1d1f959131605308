"""Products of arrays in NumPy's main namespace, all made of matmul: dot, tensordot, kron, cross and the like."""

import math
import operator

from .. import _engine, exceptions
from .._arrays.axes import (
    arrays_together,
    as_operand,
    byte_strides,
    number_without_axes,
    several,
    store,
)
from .._dtype.functions import result_type
from .._engine import _FastPath, matmul

_ndarray = _engine._Array


def _array(x):
    return x if isinstance(x, _ndarray) else as_operand(x)


def _vector(x):
    return x if x.ndim == 1 else x.reshape(-1)


def _conj(x):
    if x.dtype.kind not in "cO":
        return x
    import unisono

    return unisono.conj(x)


def _into(value, out):
    """Return the value, or write it to `out` where that is given."""
    if out is None:
        return value
    if out.shape != value.shape:
        raise ValueError(
            f"out: the output array has the wrong shape; got {out.shape}, expected {value.shape}"
        )
    out[...] = value
    return out


def _view(x, shape, strides, offset=0):
    return _engine._strided(x, tuple(shape), tuple(strides), offset)


def _element_strides(x):
    return [s // x.itemsize for s in byte_strides(x)]


def _axis(axis, ndim, what):
    k = operator.index(axis)
    if not -ndim <= k < ndim:
        raise exceptions.AxisError(
            f"{what}: axis {axis} is out of bounds for an array of dimension {ndim}; "
            f"expected {-ndim} to {ndim - 1}"
        )
    return k % ndim


def _last(x, axis, what):
    """`x` with an axis moved to the end."""
    if x.ndim == 0:
        raise ValueError(f"{what}: at least one array has zero dimension")
    axis = _axis(axis, x.ndim, what)
    if axis == x.ndim - 1:
        return x
    return x.transpose([k for k in range(x.ndim) if k != axis] + [axis])


@_FastPath
def dot(a, b, out=None):
    """Dot product: of vectors, matrices, or over the last axis of `a` and the last but one of `b`.

    Parameters
    ----------
    a, b : array_like
        Where one is a scalar, the product with it.
    out : ndarray, optional
        Of the result's shape and dtype.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.
    ValueError
        If `out` has another shape or dtype.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    a, b = arrays_together(a, b)
    axes = a.ndim, b.ndim
    if out is not None and (kind := result_type(a, b)) != out.dtype:
        raise ValueError(f"dot: out must have the dtype of the result, {kind}; got {out.dtype}")
    if axes == (1, 1) and out is None:
        return a @ b
    if 0 in axes:
        return _into(a * b, out)
    if max(axes) <= 2:
        return matmul(a, b) if out is None else matmul(a, b, out=out)
    return _into(tensordot(a, b, ((a.ndim - 1,), (max(b.ndim - 2, 0),))), out)


def vdot(a, b, /):
    """Dot product of two arrays taken as vectors; the first is conjugated.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.vdot([[1, 2], [3, 4]], [[1, 1], [1, 1]]))
    10
    """
    a, b = (x.reshape(-1) for x in arrays_together(a, b))
    return matmul(_conj(a), b)


@_FastPath
def vecdot(x1, x2, /, out=None, *, axis=None, axes=None, keepdims=False):
    """Dot products of the vectors along an axis; the first is conjugated.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., n)
    out : ndarray, optional
    axis : int, optional
        Axis of the vectors in both arrays; the last by default.
    axes : list of tuple, optional
        Axis of the vectors in each array, as in ``[(0,), (-1,)]``; instead of `axis`.
    keepdims : bool, optional
        Keep the axis of the vectors in the result, with extent 1.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    AxisError
        If an axis is out of bounds.
    TypeError
        If both `axis` and `axes` are given.

    Examples
    --------
    >>> import unisono as un
    >>> un.vecdot([[1, 2], [3, 4]], [1, 10]).tolist()
    [21, 43]
    """
    x1, x2 = arrays_together(x1, x2)
    if axes is not None:
        if axis is not None:
            raise TypeError("vecdot: axis and axes are one thing; give only one of them")
        from .core_axes import along

        if keepdims:
            kept = axes[2] if len(axes) > 2 else -1
            return along("vecdot", _kept_vecdot, (x1, x2), [*axes[:2], kept], (1, 1, 1), out)
        return along("vecdot", vecdot, (x1, x2), axes, (1, 1, 0), out)
    axis = -1 if axis is None else axis
    result = _vecdot(_last(x1, axis, "vecdot"), _last(x2, axis, "vecdot"))
    if keepdims:
        result = result[..., None]
        result = result.transpose(_moved_last(result.ndim, _axis(axis, result.ndim, "vecdot")))
    return store("vecdot", result, out, broader=True)


def _vecdot(x1, x2):
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"vecdot: vectors differ in length; got shapes {x1.shape} and {x2.shape}")
    return matmul(_conj(x1)[..., None, :], x2[..., :, None])[..., 0, 0]


def _kept_vecdot(x1, x2):
    return _vecdot(x1, x2)[..., None]


def _require_axes(function, x, least, argument):
    if x.ndim < least:
        raise ValueError(
            f"{function}: argument {argument} has too few axes; got shape {x.shape}; expected at least {least} "
            f"{'axis' if least == 1 else 'axes'}; give a {'vector' if least == 1 else 'matrix'} or a stack of them"
        )


def _moved_last(ndim, axis):
    """Order of axes that moves the last one to `axis`."""
    return [*range(axis), ndim - 1, *range(axis, ndim - 1)]


@_FastPath
def matvec(x1, x2, /, out=None, *, axes=None):
    """Product of matrices with vectors: shapes (..., m, n) and (..., n) give (..., m).

    Parameters
    ----------
    x1, x2 : array_like
    out : ndarray, optional
    axes : list of tuple, optional
        Axes of the matrices and vectors in both arrays and the result, as in ``[(-2, -1), (-1,), (-1,)]``.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x1` or `x2` cannot be converted to a numeric array.
    ValueError
        If one of them has too few axes, or their shapes do not fit.

    Examples
    --------
    >>> import unisono as un
    >>> un.matvec([[1, 2], [3, 4]], [[1, 0], [0, 1]]).tolist()
    [[1, 3], [2, 4]]
    """
    if axes is not None:
        from .core_axes import along

        return along("matvec", matvec, arrays_together(x1, x2), axes, (2, 1, 1), out)
    x1, x2 = arrays_together(x1, x2)
    _require_axes("matvec", x1, 2, 1)
    _require_axes("matvec", x2, 1, 2)
    return store("matvec", matmul(x1, x2[..., :, None])[..., 0], out)


@_FastPath
def vecmat(x1, x2, /, out=None, *, axes=None):
    """Product of vectors (conjugated) with matrices: (..., n) and (..., n, m) give (..., m).

    Parameters
    ----------
    x1, x2 : array_like
    out : ndarray, optional
    axes : list of tuple, optional
        Axes of the matrices and vectors in both arrays and the result, as in ``[(-2, -1), (-1,), (-1,)]``.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x1` or `x2` cannot be converted to a numeric array.
    ValueError
        If one of them has too few axes, or their shapes do not fit.

    Examples
    --------
    >>> import unisono as un
    >>> un.vecmat([1, 1], [[1, 2], [3, 4]]).tolist()
    [4, 6]
    """
    if axes is not None:
        from .core_axes import along

        return along("vecmat", vecmat, arrays_together(x1, x2), axes, (1, 2, 1), out)
    x1, x2 = arrays_together(x1, x2)
    _require_axes("vecmat", x1, 1, 1)
    _require_axes("vecmat", x2, 2, 2)
    return store("vecmat", matmul(_conj(x1)[..., None, :], x2)[..., 0, :], out)


def inner(a, b, /):
    """Sums of products over the last axes of both arrays.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.inner([1, 2, 3], [0, 1, 0]))
    2
    """
    a, b = arrays_together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"inner: the last axes differ; got shapes {a.shape} and {b.shape}")
    return store("inner", tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,))), None)


def outer(a, b, out=None):
    """Product of each element of `a` with each of `b`, both taken as vectors.

    Parameters
    ----------
    a, b : array_like
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.outer([1, 2], [1, 10]).tolist()
    [[1, 10], [2, 20]]
    """
    a, b = arrays_together(a, b)
    return _into(_vector(a)[:, None] * _vector(b), out)


def tensordot(a, b, axes=2):
    """Sum of products over given axes of both arrays.

    Parameters
    ----------
    a, b : array_like
    axes : int or pair of sequences of ints
        The last `axes` axes of `a` and the first of `b`; or the axes of each.

    Returns
    -------
    ndarray
        The axes of `a` that are left, then those of `b`.

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.tensordot(un.ones((2, 3, 4)), un.ones((3, 4, 5))).shape
    (2, 5)
    """
    a, b = arrays_together(a, b)
    try:
        of_a, of_b = axes
    except TypeError:
        n = operator.index(axes)
        of_a, of_b = range(a.ndim - n, a.ndim), range(n)
    of_a, of_b = (several(k) for k in (of_a, of_b))
    of_a = [_axis(k, a.ndim, "tensordot") for k in of_a]
    of_b = [_axis(k, b.ndim, "tensordot") for k in of_b]
    if [a.shape[k] for k in of_a] != [b.shape[k] for k in of_b]:
        raise ValueError(
            f"tensordot: summed axes differ in extent; got shapes {a.shape} and {b.shape}, "
            f"axes {of_a} and {of_b}"
        )
    kept_a = [k for k in range(a.ndim) if k not in of_a]
    kept_b = [k for k in range(b.ndim) if k not in of_b]
    rows = math.prod(a.shape[k] for k in kept_a)
    columns = math.prod(b.shape[k] for k in kept_b)
    summed = math.prod(a.shape[k] for k in of_a)
    left = a.transpose(kept_a + of_a).reshape((rows, summed))
    right = b.transpose(of_b + kept_b).reshape((summed, columns))
    shape = [a.shape[k] for k in kept_a] + [b.shape[k] for k in kept_b]
    return matmul(left, right).reshape(tuple(shape))


def kron(a, b):
    """Kronecker product: each element of `a` times the whole of `b`, as blocks.

    Parameters
    ----------
    a, b : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.kron([1, 10], [1, 2, 3]).tolist()
    [1, 2, 3, 10, 20, 30]
    """
    a, b = arrays_together(a, b)
    rank = max(a.ndim, b.ndim)
    left = (1,) * (rank - a.ndim) + a.shape
    right = (1,) * (rank - b.ndim) + b.shape
    a = a.reshape([n for extent in left for n in (extent, 1)])
    b = b.reshape([n for extent in right for n in (1, extent)])
    made = (a * b).reshape([p * q for p, q in zip(left, right, strict=True)])
    return number_without_axes(made)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of 3 (or 2) components along an axis.

    Parameters
    ----------
    a, b : array_like
        The third component of a vector of 2 is 0; of two such, only the third one of the product is given.
    axisa, axisb, axisc : int
        Axes of the vectors in `a`, `b` and the result.
    axis : int, optional
        All three at once.

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
    >>> un.cross([1, 0, 0], [0, 1, 0]).tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = arrays_together(a, b)
    a, b = _last(a, axisa, "cross"), _last(b, axisb, "cross")
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(
            "cross: incompatible dimensions for cross product (must be 2 or 3); "
            f"got {a.shape[-1]} and {b.shape[-1]} components"
        )
    x = [a[..., k] for k in range(a.shape[-1])]
    y = [b[..., k] for k in range(b.shape[-1])]
    third = x[0] * y[1] - x[1] * y[0]
    if len(x) == 2 and len(y) == 2:
        return third
    if len(x) == 3 and len(y) == 3:
        parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], third]
    elif len(x) == 3:
        parts = [-(x[2] * y[1]), x[2] * y[0], third]
    else:
        parts = [x[1] * y[2], -(x[0] * y[2]), third]
    made = _engine._empty((*third.shape, 3), third.dtype, third.device)
    for k, part in enumerate(parts):
        made[..., k] = part
    to = _axis(axisc, made.ndim, "cross")
    order = list(range(made.ndim - 1))
    order.insert(to, made.ndim - 1)
    return made.transpose(order)


from .einsum import einsum, einsum_path  # noqa: E402, F401
