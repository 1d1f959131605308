"""Linear algebra with NumPy's and the array API's names, by LAPACK.

Matrices are the last two axes; leading axes stack them. Factorisations run at once, as their faults
depend on data. `blas` and `lapack` give the routines themselves.
"""

import importlib
import math
import operator
from typing import NamedTuple as _NamedTuple

from . import _engine
from ._creation import asarray, empty, zeros
from ._dtypes import _table
from ._engine import matmul
from ._products import (
    _array,
    _axis,
    _conj,
    _element_strides,
    _into,
    _view,
    tensordot,
    vecdot,
)
from ._products import (
    cross as _cross,
)
from ._products import (
    outer as _outer,
)


class LinAlgError(ValueError):
    """Raised where a matrix has no solution, inverse or factorisation, or an algorithm does not converge."""


class EigResult(_NamedTuple):
    """What `eig` returns.

    Examples
    --------
    >>> import unisono as un
    >>> w, v = un.linalg.eig([[2.0, 0.0], [0.0, 3.0]])
    >>> w.real.tolist()
    [2.0, 3.0]
    """

    eigenvalues: object
    eigenvectors: object


class EighResult(_NamedTuple):
    """What `eigh` returns.

    Examples
    --------
    >>> import unisono as un
    >>> w, v = un.linalg.eigh([[2.0, 0.0], [0.0, 3.0]])
    >>> w.tolist()
    [2.0, 3.0]
    """

    eigenvalues: object
    eigenvectors: object


class QRResult(_NamedTuple):
    """What `qr` returns.

    Examples
    --------
    >>> import unisono as un
    >>> q, r = un.linalg.qr([[1.0, 0.0], [0.0, 1.0]])
    >>> abs(r).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    Q: object
    R: object


class SlogdetResult(_NamedTuple):
    """What `slogdet` returns.

    Examples
    --------
    >>> import unisono as un
    >>> sign, logarithm = un.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
    >>> sign.item(), logarithm.item()
    (-1.0, 0.0)
    """

    sign: object
    logabsdet: object


class SVDResult(_NamedTuple):
    """What `svd` returns.

    Examples
    --------
    >>> import unisono as un
    >>> u, s, vh = un.linalg.svd([[2.0, 0.0], [0.0, 3.0]])
    >>> s.tolist()
    [3.0, 2.0]
    """

    U: object
    S: object
    Vh: object


def __getattr__(name):
    if name in ("blas", "lapack"):
        return importlib.import_module("._" + name, __package__)
    raise AttributeError(f"module 'unisono.linalg' has no attribute '{name}'")


def _floating(x, what):
    """`x` in the dtype in which linear algebra is done: integers become float64."""
    x = _array(x)
    if x.dtype.kind in "biu":
        return x.astype("float64")
    if x.dtype.name == "float16":
        raise TypeError(
            f"{what}: array type float16 is unsupported in linalg; convert to float32 or float64"
        )
    return x


def _matrices(x, what, square=False):
    x = _floating(x, what)
    if x.ndim < 2:
        raise LinAlgError(
            f"{what}: {x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise LinAlgError(
            f"{what}: Last 2 dimensions of the array must be square; got shape {x.shape}"
        )
    return x


def _factors(what, x, y=None, option=0, limit=0.0, failure="Singular matrix"):
    *made, failed = _engine._lapack(what, x, y, option, limit)
    if failed >= 0:
        where = "" if x.ndim == 2 else f"; matrix {failed} of the stack"
        raise LinAlgError(f"{what}: {failure}{where}")
    return made


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
        What is given is no array of numbers, nor makes one.

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
        What is given is no array of numbers, nor makes one.

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
        What is given is no array of numbers, nor makes one.

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
        What is given is no array of numbers, nor makes one.

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
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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


def solve(a, b):
    """x of the linear systems ``a @ x = b``.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    b : array_like, shape (n,) or (..., n, k)

    Returns
    -------
    ndarray
        Of the shape of `b`.

    Raises
    ------
    LinAlgError
        A matrix is singular or not square.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    a, b = _matrices(a, "solve", square=True), _floating(b, "solve")
    a, b = _pair(a, b)
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"solve: b must have as many rows as a; got shapes {a.shape} and "
            f"{b.shape[:1] if vector else b.shape}"
        )
    lead = _broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = _engine.broadcast_to(a, (*lead, *a.shape[-2:])) if lead != a.shape[:-2] else a
    b = _engine.broadcast_to(b, (*lead, *b.shape[-2:])) if lead != b.shape[:-2] else b
    (x,) = _factors("solve", a, b)
    return x[..., 0] if vector else x


def _broadcast_shapes(one, two):
    rank = max(len(one), len(two))
    one, two = (1,) * (rank - len(one)) + tuple(one), (1,) * (rank - len(two)) + tuple(two)
    shape = []
    for p, q in zip(one, two, strict=True):
        if p != q and 1 not in (p, q):
            raise ValueError(f"linalg: stacks of shapes {one} and {two} do not broadcast")
        shape.append(q if p == 1 else p)
    return tuple(shape)


def inv(a):
    """Inverse of matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    LinAlgError
        A matrix is singular or not square.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _factors("inv", _matrices(a, "inv", square=True))[0]


def det(a):
    """Determinants of matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.det([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """
    return _factors("det", _matrices(a, "det", square=True))[0]


def slogdet(a):
    """Sign of determinants (or their phase) and the logarithm of their absolute values.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> sign, log = un.linalg.slogdet([[1.0, 2.0], [3.0, 4.0]])
    >>> float(sign), round(float(log), 6)
    (-1.0, 0.693147)
    """
    return SlogdetResult(*_factors("det", _matrices(a, "slogdet", square=True))[1:])


def cholesky(a, /, *, upper=False):
    """Cholesky factors L of ``a = L @ L.T`` (conjugated), or with `upper` U of ``a = U.T @ U``.

    Only one triangle of `a` is read.

    Parameters
    ----------
    a : array_like
    upper : bool

    Returns
    -------
    ndarray

    Raises
    ------
    LinAlgError
        A matrix is not positive definite.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    a = _matrices(a, "cholesky", square=True)
    return _factors("cholesky", a, option=int(upper), failure="Matrix is not positive definite")[0]


def qr(a, mode="reduced"):
    """Matrices as the product of an orthogonal and an upper triangular one.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    mode : {'reduced', 'complete', 'r', 'raw'}
        With k = min(m, n): q of shape (m, k), of shape (m, m), only r, or LAPACK's reflectors.

    Returns
    -------
    QRResult (Q, R), ndarray R, or tuple (h, tau)

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.qr(un.ones((4, 2))).R.shape
    (2, 2)
    """
    modes = ["reduced", "complete", "r", "raw"]
    if mode not in modes:
        raise ValueError(f"qr: Unrecognized mode '{mode}'; expected one of {modes}")
    made = _factors("qr", _matrices(a, "qr"), option=modes.index(mode))
    if mode == "r":
        return made[0]
    return tuple(made) if mode == "raw" else QRResult(*made)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular value decomposition ``a = U @ diag(S) @ Vh``, the largest values first.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    full_matrices : bool
        U and Vh are square; otherwise they have min(m, n) columns and rows.
    compute_uv : bool
        Otherwise only S is returned.
    hermitian : bool
        `a` is symmetric or Hermitian, which is faster.

    Returns
    -------
    SVDResult (U, S, Vh), or ndarray S

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False).tolist()
    [4.0, 3.0]
    """
    a = _matrices(a, "svd", square=hermitian)
    if hermitian:
        return _svd_hermitian(a, compute_uv)
    option = 0 if not compute_uv else 2 if full_matrices else 1
    made = _factors("svd", a, option=option, failure="SVD did not converge")
    return SVDResult(*made) if compute_uv else made[0]


def _svd_hermitian(a, compute_uv):
    if not compute_uv:
        values = abs(eigvalsh(a))
        import unisono

        return unisono.sort(values, axis=-1)[..., ::-1]
    import unisono

    w, v = eigh(a)
    order = unisono.argsort(-abs(w), axis=-1)
    signs = unisono.take_along_axis(unisono.sign(w), order, axis=-1)
    s = unisono.take_along_axis(abs(w), order, axis=-1)
    v = unisono.take_along_axis(v, order[..., None, :], axis=-1)
    return SVDResult(v, s, matrix_transpose(_conj(v * signs[..., None, :])))


def svdvals(x, /):
    """Singular values of matrices, the largest first.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]]).tolist()
    [4.0, 3.0]
    """
    return svd(x, compute_uv=False)


def _triangle(uplo, what):
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError(f"{what}: UPLO argument must be 'L' or 'U'; got {uplo!r}")
    return int(uplo.upper() == "U")


def eigh(a, UPLO="L"):
    """Eigenvalues, in rising order, and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    UPLO : {'L', 'U'}
        Which triangle is read.

    Returns
    -------
    EighResult (eigenvalues, eigenvectors)
        The vectors are columns.

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [1.0, 2.0]
    """
    a = _matrices(a, "eigh", square=True)
    option = 2 + _triangle(UPLO, "eigh")
    return EighResult(*_factors("eigh", a, option=option, failure="Eigenvalues did not converge"))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of symmetric or Hermitian matrices, in rising order.

    Parameters
    ----------
    a : array_like
    UPLO : {'L', 'U'}
        Which triangle is read.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    a = _matrices(a, "eigvalsh", square=True)
    option = _triangle(UPLO, "eigvalsh")
    return _factors("eigh", a, option=option, failure="Eigenvalues did not converge")[0]


def _check_finite(a, what):
    if a.size and not math.isfinite(float(abs(a).max())):
        raise LinAlgError(f"{what}: Array must not contain infs or NaNs")


def _as_complex(x):
    return (
        x
        if x.dtype.kind == "c"
        else x.astype("complex64" if x.dtype.itemsize == 4 else "complex128")
    )


def eig(a):
    """Eigenvalues and right eigenvectors of matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    EigResult (eigenvalues, eigenvectors)
        Complex, as the array API has it. The vectors are columns.

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eig([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [(2+0j), (1+0j)]
    """
    a = _matrices(a, "eig", square=True)
    _check_finite(a, "eig")
    made = _factors("eig", a, option=1, failure="Eigenvalues did not converge")
    return EigResult(*(_as_complex(x) for x in made))


def eigvals(a):
    """Eigenvalues of matrices, complex as the array API has it.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [(2+0j), (1+0j)]
    """
    a = _matrices(a, "eigvals", square=True)
    _check_finite(a, "eigvals")
    return _as_complex(_factors("eig", a, option=0, failure="Eigenvalues did not converge")[0])


def lstsq(a, b, rcond=None):
    """Least squares: x that makes ``b - a @ x`` shortest, the shortest such x.

    Parameters
    ----------
    a : array_like, shape (m, n)
    b : array_like, shape (m,) or (m, k)
    rcond : float, optional
        Singular values below `rcond` times the largest count as zero; by default max(m, n) times
        the machine's precision.

    Returns
    -------
    x : ndarray, shape (n,) or (n, k)
    residuals : ndarray
        Sums of squares; empty where the rank is below n or m <= n.
    rank : int
    s : ndarray
        Singular values of `a`.

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> x, residuals, rank, s = un.linalg.lstsq([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    >>> x.tolist(), rank
    ([1.0, 1.0], 2)
    """
    a, b = _floating(a, "lstsq"), _floating(b, "lstsq")
    vector = b.ndim == 1
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise LinAlgError(
            f"lstsq: expected a of two dimensions and b of one or two; got {a.shape} and {b.shape}"
        )
    a, b = _pair(a, b)
    b = b[:, None] if vector else b
    m, n = a.shape
    if b.shape[0] != m:
        raise LinAlgError(f"lstsq: Incompatible dimensions; got shapes {a.shape} and {b.shape}")
    if rcond is None:
        rcond = _epsilon(a.dtype) * max(m, n)
    if m == 0 or n == 0 or b.shape[1] == 0:
        x, s, rank = zeros((n, b.shape[1]), a.dtype), zeros(min(m, n), _real(a.dtype)), 0
        residuals = (abs(b) ** 2).sum(axis=0) if n == 0 and m > 0 else zeros(0, _real(a.dtype))
        return (x[:, 0] if vector else x), residuals, rank, s
    failure = "SVD did not converge in Linear Least Squares"
    full, s, rank = _factors("lstsq", a, b, limit=float(rcond), failure=failure)
    x, rank = full[:n], int(rank)
    residuals = zeros(0, _real(a.dtype))
    if rank == n and m > n:
        residuals = (abs(full[n:]) ** 2).sum(axis=0)
    return (x[:, 0] if vector else x), residuals, rank, s


def _real(dtype):
    return _table[{"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)]


def _cutoff(s, shape, rtol, dtype):
    if rtol is None:
        rtol = max(shape[-2:]) * _epsilon(dtype)
    rtol = _array(rtol)
    return s.max(axis=-1, keepdims=True) * rtol[..., None]


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
        What is given is no array of numbers, nor makes one.

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
        return empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
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
        What is given is no array of numbers, nor makes one.

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
        return asarray(int(bool((A != 0).any())))
    A = _floating(A, "matrix_rank")
    if 0 in A.shape[-2:]:
        return zeros(A.shape[:-2], "int64")
    s = svd(A, compute_uv=False, hermitian=hermitian)
    limit = _cutoff(s, A.shape, rtol, A.dtype) if tol is None else _array(tol)[..., None]
    return (s > limit).astype("int64").sum(axis=-1)


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.cond([[2.0, 0.0], [0.0, 1.0]]))
    2.0
    """
    import unisono

    x = _matrices(x, "cond")
    if x.size == 0:
        raise LinAlgError("cond: cond is not defined on empty arrays")
    if p is None or p == 2 or p == -2:
        s = svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    _matrices(x, "cond", square=True)
    try:
        other = inv(x)
    except LinAlgError:
        if x.ndim > 2:
            parts = x.reshape((-1, *x.shape[-2:]))
            values = [float(cond(parts[k], p)) for k in range(parts.shape[0])]
            return unisono.array(values, dtype=_real(x.dtype)).reshape(x.shape[:-2])
        return unisono.array(math.inf, dtype=_real(x.dtype))
    axes = (-2, -1)
    return norm(x, p, axis=axes) * norm(other, p, axis=axes)


def matrix_power(a, n):
    """Matrices to an integer power; a negative one is that of the inverse.

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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.matrix_power([[1, 1], [0, 1]], 5).tolist()
    [[1, 5], [0, 1]]
    """
    a = _array(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(
            f"matrix_power: Last 2 dimensions of the array must be square; got shape {a.shape}"
        )
    try:
        n = operator.index(n)
    except TypeError as e:
        raise TypeError("matrix_power: exponent must be an integer") from e
    if n == 0:
        made = zeros(a.shape, a.dtype)
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
        What is given is no array of numbers, nor makes one.

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
            raise LinAlgError(
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


def tensorsolve(a, b, axes=None):
    """x of ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    a : array_like
        Of shape ``b.shape + x.shape``.
    b : array_like
    axes : sequence of int, optional
        Axes of `a` to move to the end first.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.tensorsolve(un.asarray([[2.0, 0.0], [0.0, 4.0]]), [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    a, b = _floating(a, "tensorsolve"), _array(b)
    if axes is not None:
        moved = [_axis(k, a.ndim, "tensorsolve") for k in axes]
        a = a.transpose([k for k in range(a.ndim) if k not in moved] + moved)
    shape = a.shape[b.ndim :]
    n = math.prod(shape)
    if a.size != n * n:
        raise LinAlgError(
            "tensorsolve: Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]); got shapes "
            f"{a.shape} and {b.shape}"
        )
    return solve(a.reshape((n, n)), b.reshape(-1)).reshape(shape)


def tensorinv(a, ind=2):
    """Inverse of `a` as to ``tensordot(a, x, ind)``.

    Parameters
    ----------
    a : array_like
    ind : array_like of int

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.tensorinv([[2.0, 0.0], [0.0, 4.0]], ind=1).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = _floating(a, "tensorinv")
    if ind <= 0:
        raise ValueError(f"tensorinv: Invalid ind argument; got {ind}, expected a positive integer")
    n = math.prod(a.shape[ind:])
    return inv(a.reshape((-1, n))).reshape((*a.shape[ind:], *a.shape[:ind]))


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
        return size.max(axis=axis, keepdims=keepdims)
    if order == -math.inf:
        return size.min(axis=axis, keepdims=keepdims)
    if order == 0:
        return (x != 0).astype(_real(x.dtype)).sum(axis=axis, keepdims=keepdims)
    if order == 1:
        return size.sum(axis=axis, keepdims=keepdims)
    if isinstance(order, str):
        raise ValueError(f"norm: Invalid norm order '{order}' for vectors")
    return unisono.power(unisono.power(size, order).sum(axis=axis, keepdims=keepdims), 1 / order)


def _matrix_norm(x, order, keepdims):
    """Of the last two axes."""
    if order in (None, "fro", "f"):
        return _vector_norm(x, 2, (-2, -1), keepdims)
    if order in (2, -2, "nuc"):
        s = svd(x, compute_uv=False)
        made = (
            s.sum(axis=-1) if order == "nuc" else s.max(axis=-1) if order == 2 else s.min(axis=-1)
        )
    elif order in (1, -1, math.inf, -math.inf):
        sums = abs(x).sum(axis=-2 if abs(order) == 1 else -1)
        made = sums.max(axis=-1) if order > 0 else sums.min(axis=-1)
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
        The array has no such axis.

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
        All axes where it is None.
    keepdims : bool
        Leave reduced axes in, with extent 1.
    ord
        Which norm.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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
        Leave reduced axes in, with extent 1.
    ord
        Which norm.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

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


__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv",
    "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
