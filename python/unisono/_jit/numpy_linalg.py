"""Functions of numpy.linalg that compiled code calls: what LAPACK does for one matrix, and what follows from it.

As in Numba, what real matrices give is real: complex eigenvalues of a real matrix are an error.
"""

from __future__ import annotations

import numpy as np

from ..linalg._decompositions import EighResult, EigResult, QRResult, SVDResult
from ..linalg._solving import SlogdetResult
from . import jit
from .engine_functions import engine_function
from .numpy_elements import these_arguments

# Known to the front end by these names (engine/runtime/matrix_natives.cpp).
lapack_slogdet = engine_function("lapack_slogdet")
lapack_qr = engine_function("lapack_qr")
lapack_svd = engine_function("lapack_svd")
lapack_eigh = engine_function("lapack_eigh")
lapack_eig = engine_function("lapack_eig")
lapack_lstsq = engine_function("lapack_lstsq")
norm_of_2 = engine_function("norm")


@jit
def _packed(a):
    """Of a type that LAPACK has."""
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return a.astype(np.float64)
    else:
        return np.ascontiguousarray(a)


@jit
def _square(a):
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return _packed(a)


@jit
def qr(a, mode=None):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    if mode is not None:
        return these_arguments()
    x = _packed(a)
    m, n = x.shape
    q = np.empty((m, min(m, n)), x.dtype)
    r = np.empty((min(m, n), n), x.dtype)
    if x.size > 0:
        lapack_qr(m, n, x, q, r)
    return QRResult(q, r)


@jit
def _singular(x, full, u, v_rows):
    """The singular values; with vectors where there is room for them."""
    m, n = x.shape
    s = np.empty(min(m, n), x.real.dtype)
    if s.size > 0 and lapack_svd(m, n, full, x, u, s, v_rows) != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    return s


@jit
def svdvals(x, /):
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype == np.float16:
        return these_arguments()
    packed = _packed(x)
    none = np.empty((0, 0), packed.dtype)
    return _singular(packed, False, none, none)


@jit
def svd(a, full_matrices=True, compute_uv=None):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    if compute_uv is not None:
        return these_arguments()
    x = _packed(a)
    m, n = x.shape
    least = min(m, n)
    u = np.eye(m, m if full_matrices else least, dtype=x.dtype)
    v_rows = np.eye(n if full_matrices else least, n, dtype=x.dtype)
    s = _singular(x, bool(full_matrices), u, v_rows)
    return SVDResult(u, s, v_rows)


@jit
def _is_upper(UPLO):
    if UPLO != "L" and UPLO != "U" and UPLO != "l" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO == "U" or UPLO == "u"


@jit
def _symmetric(x, upper, v):
    w = np.empty(len(x), x.real.dtype)
    if len(x) > 0 and lapack_eigh(len(x), upper, x, w, v) != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w


@jit
def eigh(a, UPLO="L"):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    x = _square(a)
    v = np.empty(x.shape, x.dtype)
    w = _symmetric(x, _is_upper(UPLO), v)
    return EighResult(w, v)


@jit
def eigvalsh(a, UPLO="L"):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    x = _square(a)
    return _symmetric(x, _is_upper(UPLO), np.empty((0, 0), x.dtype))


@jit
def _complex_of(x):
    """No elements of the complex type beside x's."""
    if x.dtype == np.float32 or x.dtype == np.complex64:
        return np.empty((0, 0), np.complex64)
    else:
        return np.empty((0, 0), np.complex128)


@jit
def _general(x, v):
    w = np.empty(len(x), v.dtype)
    if len(x) > 0 and lapack_eig(len(x), x, w, v) != 0:
        if not np.all(np.isfinite(x)):
            raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    if x.dtype.kind == "f" and np.any(w.imag != 0):
        raise ValueError(
            "eig() argument must not cause a domain change: a real matrix has complex eigenvalues; "
            "give a complex one, a.astype(complex)"
        )
    return w


@jit
def eig(a):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    x = _square(a)
    v = np.empty(x.shape, _complex_of(x).dtype)
    w = _general(x, v)
    if x.dtype.kind == "f":
        return EigResult(w.real.copy(), v.real.copy())
    else:
        return EigResult(w, v)


@jit
def eigvals(a):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    x = _square(a)
    w = _general(x, _complex_of(x))
    if x.dtype.kind == "f":
        return w.real.copy()
    else:
        return w


@jit
def slogdet(a):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    x = _square(a)
    sign = np.empty(1, x.dtype)
    logarithm = np.empty(1, x.real.dtype)
    lapack_slogdet(len(x), x, sign, logarithm)
    return SlogdetResult(sign[0], logarithm[0])


@jit
def lstsq(a, b, rcond=None):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    if not isinstance(b, np.ndarray) or b.ndim > 2 or b.dtype == np.float16:
        return these_arguments()
    if a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    m, n = a.shape
    # Of one type, which both may be cast to.
    kind = (_packed(a[:0, :0]).ravel() + _packed(b[:0].reshape(0, 0)).ravel()).dtype
    x = np.ascontiguousarray(a.astype(kind))
    right = np.ascontiguousarray(b.astype(kind)).reshape(m, -1 if b.ndim == 2 else 1)
    k = right.shape[1]
    if rcond is None:
        limit = float(np.finfo(x.real.dtype).eps) * max(m, n)
    else:
        limit = float(rcond)
    full = np.zeros((max(m, n), k), kind)
    s = np.empty(min(m, n), x.real.dtype)
    rank = np.zeros(1, np.int64)
    if m > 0 and n > 0 and k > 0 and lapack_lstsq(m, n, k, limit, x, right, full, s, rank) != 0:
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
    residuals = np.empty(0, s.dtype)
    if rank[0] == n and m > n:
        residuals = np.sum(np.abs(full[n:]) ** 2, axis=0)
    if b.ndim == 1:
        return full[:n, 0].copy(), residuals, np.int32(rank[0]), s
    else:
        return full[:n].copy(), residuals, np.int32(rank[0]), s


@jit
def pinv(a, rcond=1e-15):
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype == np.float16:
        return these_arguments()
    if a.size == 0:
        return np.empty((a.shape[1], a.shape[0]), _packed(a).dtype)
    u, s, vh = svd(np.conj(_packed(a)), False)
    cutoff = rcond * np.max(s)
    for i in range(len(s)):
        s[i] = 1 / s[i] if s[i] > cutoff else 0
    return vh.T @ (s.reshape(-1, 1) * u.T)


@jit
def matrix_rank(A, tol=None):
    if not isinstance(A, np.ndarray) or A.ndim > 2 or A.dtype == np.float16:
        return these_arguments()
    if A.ndim < 2:
        return int(np.any(A != 0))
    else:
        if A.size == 0:
            return 0
        s = svdvals(A)
        if tol is None:
            limit = np.max(s) * max(A.shape) * np.finfo(s.dtype).eps
        else:
            limit = tol
        return np.count_nonzero(s > limit)


@jit
def cond(x, p=None):
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype == np.float16:
        return these_arguments()
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2 or p == -2:
        s = svdvals(x)
        if p is not None and p == -2:
            return s[-1] / s[0]
        return s[0] / s[-1] if s[-1] != 0 else np.inf * (s[0] + 1)
    else:
        return norm(x, p) * norm(np.linalg.inv(x), p)


@jit
def _norm_of_vector(x, ord):
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size)
    if ord == -np.inf:
        return np.min(size)
    if ord == 0:
        return np.sum((x != 0).astype(size.dtype))
    if ord == 1:
        return np.sum(size)
    if ord == 2:
        return norm_of_2(x)
    return np.sum(size**ord) ** (1.0 / ord)


@jit
def _norm_of_matrix(x, ord):
    if ord == 2 or ord == -2:
        s = svdvals(x)
        return s[0] if ord == 2 else s[-1]
    if ord != 1 and ord != -1 and ord != np.inf and ord != -np.inf:
        raise ValueError("Invalid norm order for matrices.")
    if ord == 1 or ord == -1:
        sums = np.sum(np.abs(x), axis=0)
    else:
        sums = np.sum(np.abs(x), axis=1)
    return np.max(sums) if ord > 0 else np.min(sums)


@jit
def norm(x, ord):
    """Of all of a vector or a matrix; without an order the front end's own."""
    if not isinstance(x, np.ndarray) or x.ndim > 2:
        return these_arguments()
    y = _packed(x)
    if isinstance(ord, str):
        if x.ndim == 1 or (ord != "fro" and ord != "nuc"):
            raise ValueError("Invalid norm order for matrices.")
        return norm_of_2(y) if x.ndim == 1 or ord == "fro" else np.sum(svdvals(y))
    elif x.ndim == 1:
        return _norm_of_vector(y, ord)
    else:
        return _norm_of_matrix(y, ord)


@jit
def matrix_power(a, n):
    if a.ndim != 2:
        return these_arguments()
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n == 0:
        made = np.zeros_like(a)
        for i in range(len(a)):
            made[i, i] = 1
        return made
    if n < 0:
        if a.dtype.kind in "biu":
            return these_arguments()
    base = a.copy() if n > 0 else np.linalg.inv(a)
    left = abs(n)
    if left == 3:
        return (base @ base) @ base
    made = base
    is_made = False
    while left > 0:
        if left % 2 == 1:
            made = made @ base if is_made else base
            is_made = True
        left //= 2
        if left > 0:
            base = base @ base
    return made


implementations = {
    name: function
    for name, function in globals().items()
    if hasattr(function, "py_func") and not name.startswith("_")
}
