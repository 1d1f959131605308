"""Linear algebra with NumPy's and the array API's names, by LAPACK.

Matrices are the last two axes; leading axes stack them. Factorisations run at once, as their faults
depend on data. `blas` and `lapack` give the routines themselves.
"""

import importlib
import operator
import sys

from .. import tensordot
from .._arrays.creation import empty, zeros
from .._arrays.exchange.numpys_elements import stand_beside as _stand_beside
from .._engine import matmul
from .._numpy.products import _array, _conj, _element_strides, _into, _view, vecdot
from .._numpy.products import cross as _cross
from .._numpy.products import outer as _outer
from . import _checks
from ._checks import _cutoff, _floating, _linalg_error, _matrices, _of_stack
from ._decompositions import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from ._norms import cond, matrix_norm, norm, vector_norm
from ._solving import det, inv, lstsq, slogdet, solve, tensorinv, tensorsolve


def __getattr__(name):
    if name in ("blas", "lapack"):
        return importlib.import_module("._" + name, __name__)
    if name == "LinAlgError":
        return _checks.LinAlgError
    raise AttributeError(f"module 'unisono.linalg' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})


def matrix_transpose(x, /):
    """Transposed matrices: a view with the last two axes swapped.

    Parameters
    ----------
    x : array_like

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
    >>> un.linalg.matrix_transpose(un.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = _array(x)
    if x.ndim < 2:
        raise ValueError(
            f"matrix_transpose: expected at least two dimensions; got an array of {x.ndim}"
        )
    return x.transpose([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def diagonal(x, /, *, offset=0):
    """Diagonals of matrices, as a view.

    Parameters
    ----------
    x : array_like, shape (..., m, n)
    offset : int
        How far above the main diagonal.

    Returns
    -------
    ndarray, shape (..., k)

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.diagonal([[1, 2], [3, 4]]).tolist()
    [1, 4]
    """
    x = _array(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal: expected at least two dimensions; got an array of {x.ndim}")
    m, n = x.shape[-2:]
    *lead, down, right = _element_strides(x)
    length = max(0, min(m, n - offset) if offset >= 0 else min(m + offset, n))
    start = 0 if length == 0 else offset * right if offset >= 0 else -offset * down
    return _view(x, (*x.shape[:-2], length), (*lead, down + right), start)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of matrices.

    Parameters
    ----------
    x : array_like
    offset : int
    dtype : dtype, optional

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
    >>> int(un.linalg.trace([[1, 2], [3, 4]]))
    5
    """
    return diagonal(x, offset=offset).sum(axis=-1, dtype=dtype)


def outer(x1, x2, /):
    """Outer product of two vectors.

    Parameters
    ----------
    x1, x2 : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x1` or `x2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    x1, x2 = _array(x1), _array(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            "outer: Input arrays must be one-dimensional, but they are "
            f"x1.ndim={x1.ndim} and x2.ndim={x2.ndim}"
        )
    return _outer(x1, x2)


def cross(x1, x2, /, *, axis=-1):
    """Cross product of vectors of 3 components along an axis.

    Parameters
    ----------
    x1, x2 : array_like
    axis : int, optional
        Axis of the vectors; the last by default.

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
    >>> un.linalg.cross([1, 0, 0], [0, 1, 0]).tolist()
    [0, 0, 1]
    """
    x1, x2 = _array(x1), _array(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "cross: Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead"
        )
    return _cross(x1, x2, axis=axis)


def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    """Pseudo-inverse of matrices (Moore and Penrose), by singular values.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    rcond : float or array_like, optional
        Singular values below `rcond` times the largest count as zero; 1e-15 by default.
    hermitian : bool
    rtol : float or array_like, optional
        The array API's name of `rcond`.

    Returns
    -------
    ndarray, shape (..., n, m)

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    import unisono

    if rcond is not None and rtol is not None:
        raise ValueError("pinv: `rtol` and `rcond` can't be both set; give one")
    a = _matrices(a, "pinv")
    if rcond is None:
        rcond = 1e-15 if rtol is None else rtol
    if a.size == 0:
        return empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype, device=a.device)
    u, s, vh = svd(_conj(a), full_matrices=False, hermitian=hermitian)
    cutoff = _cutoff(s, a.shape, rcond, a.dtype)
    large = s > cutoff
    s = unisono.where(large, 1 / unisono.where(large, s, 1), 0)
    return matmul(
        matrix_transpose(vh), s[..., None].astype(a.dtype, copy=False) * matrix_transpose(u)
    )


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Number of singular values of matrices above a tolerance.

    Parameters
    ----------
    A : array_like, shape (..., m, n)
    tol : float or array_like, optional
        Absolute tolerance.
    hermitian : bool
    rtol : float or array_like, optional
        Tolerance relative to the largest value; max(m, n) times the machine's precision by default.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    TypeError
        If `A` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]))
    1
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: `tol` and `rtol` can't be both set; give one")
    A = _array(A)
    if A.ndim < 2:
        return int(bool((A != 0).any()))
    A = _floating(A, "matrix_rank")
    if 0 in A.shape[-2:]:
        return zeros(A.shape[:-2], "int64", device=A.device)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    limit = _cutoff(s, A.shape, rtol, A.dtype) if tol is None else _of_stack(tol, s)
    return (s > limit).astype("int64").sum(axis=-1)


def matrix_power(a, n):
    """Raise matrices to an integer power; a negative power is a power of the inverse.

    Parameters
    ----------
    a : array_like
    n : int, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.matrix_power([[1, 1], [0, 1]], 5).tolist()
    [[1, 5], [0, 1]]
    """
    a = _array(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _linalg_error(
            f"matrix_power: Last 2 dimensions of the array must be square; got shape {a.shape}"
        )
    try:
        n = operator.index(n)
    except TypeError as e:
        raise TypeError("matrix_power: exponent must be an integer") from e
    if n == 0:
        made = zeros(a.shape, a.dtype, device=a.device)
        diagonal(made)[...] = 1
        return made
    if n < 0:
        a, n = inv(a), -n
    made = None
    while n:
        if n & 1:
            made = a if made is None else matmul(made, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return made.copy() if made is a else made


def multi_dot(arrays, *, out=None):
    """Product of several matrices, in the order that takes fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.
    out : ndarray, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `arrays` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.multi_dot([un.ones((2, 9)), un.ones((9, 3)), un.ones((3, 4))]).shape
    (2, 4)
    """
    arrays = [_array(x) for x in arrays]
    if len(arrays) < 2:
        raise ValueError(f"multi_dot: Expecting at least two arrays; got {len(arrays)}")
    first, last = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = arrays[0][None, :] if first else arrays[0]
    arrays[-1] = arrays[-1][:, None] if last else arrays[-1]
    for x in arrays:
        if x.ndim != 2:
            raise _linalg_error(
                f"multi_dot: {x.ndim}-dimensional array given. Array must be two-dimensional"
            )
    made = _multiply_chain(arrays)
    made = made[:, 0] if last else made
    return _into(made[0] if first else made, out)


def _multiply_chain(arrays):
    extents = [x.shape[0] for x in arrays] + [arrays[-1].shape[1]]
    n = len(arrays)
    cost = {(k, k): (0, k) for k in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = min(
                (
                    cost[i, k][0]
                    + cost[k + 1, j][0]
                    + extents[i] * extents[k + 1] * extents[j + 1],
                    k,
                )
                for k in range(i, j)
            )

    def multiply(i, j):
        if i == j:
            return arrays[i]
        k = cost[i, j][1]
        return matmul(multiply(i, k), multiply(k + 1, j))

    return multiply(0, n - 1)


__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv",
    "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

_stand_beside(sys.modules[__name__], __all__)
