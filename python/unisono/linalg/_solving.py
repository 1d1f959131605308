"""Linear equations, inverses and determinants."""

import math
from collections import namedtuple as _namedtuple

import unisono as un

from .. import _engine
from .._arrays.creation import zeros
from .._numpy.products import _array, _axis
from . import _blocks
from ._checks import (
    _broadcast_shapes,
    _epsilon,
    _factors,
    _floating,
    _linalg_error,
    _matrices,
    _pair,
    _real,
)
from ._decompositions import qr, svd


class SlogdetResult(_namedtuple("SlogdetResult", "sign logabsdet")):
    """Result of `slogdet`.

    Examples
    --------
    >>> import unisono as un
    >>> sign, logarithm = un.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
    >>> sign.item(), logarithm.item()
    (-1.0, 0.0)
    """

    __slots__ = ()


def solve(a, b):
    """Solve the linear systems ``a @ x = b``.

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
        If a matrix is singular or not square.

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
    if b.ndim == 2 and b.shape[1] > 0 and _blocks.suits(a, b):
        x = _blocks.solve(a, b)
        return x[:, 0] if vector else x
    lead = _broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = _engine.broadcast_to(a, (*lead, *a.shape[-2:])) if lead != a.shape[:-2] else a
    b = _engine.broadcast_to(b, (*lead, *b.shape[-2:])) if lead != b.shape[:-2] else b
    if b.shape[-1] == 0 and a.size:
        _factors(
            "solve", a, zeros((*a.shape[:-1], 1), a.dtype, device=a.device)
        )  # singular matrices are errors
    (x,) = _factors("solve", a, b)
    return x[..., 0] if vector else x


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
        If a matrix is singular or not square.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = _matrices(a, "inv", square=True)
    if _blocks.suits(a):
        return _blocks.solve(a, un.eye(a.shape[0], dtype=a.dtype, device=a.device), "inv")
    return _factors("inv", a)[0]


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
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.linalg.det([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """
    return _determinants(a, "det")[0]


def slogdet(a):
    """Sign of determinants (or their phase) and the logarithm of their absolute values.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> sign, log = un.linalg.slogdet([[1.0, 2.0], [3.0, 4.0]])
    >>> float(sign), round(float(log), 6)
    (-1.0, 0.693147)
    """
    return SlogdetResult(*_determinants(a, "slogdet")[1:])


def _determinants(a, what):
    """Determinants, their signs or phases, and the logarithms of their absolute values."""
    a = _matrices(a, what, square=True)
    return _blocks.determinant(a) if _blocks.suits(a) else _factors("det", a)


def lstsq(a, b, rcond=None):
    """Least-squares solution: the x of smallest norm that minimizes the norm of ``b - a @ x``.

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
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> x, residuals, rank, s = un.linalg.lstsq([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    >>> x.tolist(), int(rank)
    ([1.0, 1.0], 2)
    """
    a, b = _floating(a, "lstsq"), _floating(b, "lstsq")
    vector = b.ndim == 1
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise _linalg_error(
            f"lstsq: expected a of two dimensions and b of one or two; got {a.shape} and {b.shape}"
        )
    a, b = _pair(a, b)
    b = b[:, None] if vector else b
    m, n = a.shape
    if b.shape[0] != m:
        raise _linalg_error(f"lstsq: Incompatible dimensions; got shapes {a.shape} and {b.shape}")
    if rcond is None:
        rcond = _epsilon(a.dtype) * max(m, n)
    none = zeros(0, _real(a.dtype), device=a.device)
    if b.shape[1] == 0 and m > 0 and n > 0:  # nothing to solve, but the matrix has a rank
        _, _, rank, s = lstsq(a, zeros((m, 1), a.dtype, device=a.device), rcond)
        return zeros((n, 0), a.dtype, device=a.device), none, rank, s
    if m == 0 or n == 0:
        x = zeros((n, b.shape[1]), a.dtype, device=a.device)
        residuals = (abs(b) ** 2).sum(axis=0) if n == 0 and m > 0 else none
        return (x[:, 0] if vector else x), residuals, un.int32(0), none
    if _blocks.suits_columns(a):
        return _by_parts(a, b, vector, float(rcond))
    full, s, rank = _factors("lstsq", a, b, limit=float(rcond))
    x, rank = full[:n], int(rank)
    residuals = none
    if rank == n and m > n:
        residuals = (abs(full[n:]) ** 2).sum(axis=0)
    return (x[:, 0] if vector else x), residuals, un.int32(rank), s


def _by_parts(a, b, vector, rcond):
    """`lstsq` of a matrix `b`: by QR factors where the rank is full, else by singular vectors."""
    m, n = a.shape
    s = svd(a, compute_uv=False)
    rank, residuals = int((s > rcond * s[:1]).sum()), zeros(0, s.dtype, device=a.device)
    if rank == n <= m:
        q, r = qr(a)
        x = solve(r, q.T.conj() @ b)
    elif rank == m:
        q, r = qr(a.T.conj())
        x = q @ solve(r.T.conj(), b)
    else:
        u, s, vh = svd(a, full_matrices=False)
        large = un.arange(s.shape[0], device=a.device) < rank
        inverse = un.where(large, 1 / un.where(large, s, 1), 0).astype(a.dtype)
        x = vh.T.conj() @ (inverse[:, None] * (u.T.conj() @ b))
    if rank == n < m:
        residuals = (abs(b - a @ x) ** 2).sum(axis=0)
    return (x[:, 0] if vector else x), residuals, un.int32(rank), s


def tensorsolve(a, b, axes=None):
    """Solve ``tensordot(a, x, x.ndim) = b`` for x.

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
        If `a` or `b` cannot be converted to a numeric array.

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
        raise _linalg_error(
            "tensorsolve: Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]); got shapes "
            f"{a.shape} and {b.shape}"
        )
    return solve(a.reshape((n, n)), b.reshape(-1)).reshape(shape)


def tensorinv(a, ind=2):
    """Inverse of `a` with respect to ``tensordot(a, x, ind)``.

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
        If `a` or `ind` cannot be converted to a numeric array.

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
