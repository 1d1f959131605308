"""Products of matrices, linear systems and eigenvalues.

Products are computed where their result lies, from panels of the operands. Systems and eigenvalue problems are solved
on every rank of the group alike, which holds the matrices whole while it does.
"""

import numpy as np

import unisono as un

from ._elementwise import Operand
from ._handles import allocated, collective, synchronize

_PANEL = 512  # rows and columns of the operands of products that are fetched at a time


def _product(alpha, a, b, beta, c):
    """c = alpha * a @ b + beta * c, for patches of matrices."""
    (m, k), (k2, n) = _matrix(a), _matrix(b)
    if k != k2 or [m, n] != _matrix(c):
        raise ValueError(
            f"ga: shapes do not fit in a product; got {a.shape} by {b.shape} for a result of {c.shape}"
        )
    array = c.array
    if array.dtype.kind not in "fc":
        raise TypeError(f"ga: products are of floating-point matrices; got {array.dtype}")
    alpha, beta = array.convert(alpha), array.convert(beta)
    with collective(array):
        found = []
        for number, lo, hi in array.own(c.lo, c.hi):
            first = [x - o for x, o in zip(lo, c.lo, strict=True)]
            last = [x - o for x, o in zip(hi, c.lo, strict=True)]
            (i, j), (i2, j2) = _pair(first, c), _pair(last, c, 1)
            total = un.zeros((i2 - i, j2 - j), dtype=array.dtype)
            for at in range(0, k, _PANEL):
                end = min(at + _PANEL, k)
                total = total + un.matmul(_cut(a, i, i2, at, end), _cut(b, at, end, j, j2))
            target = array.here(number, lo, hi)
            value = alpha * total.reshape(target.shape)
            found.append((target, value if beta == 0 else value + beta * target))
        values = [(target, value.copy()) for target, value in found]
        synchronize(array.group)  # the result may be an operand
        for target, value in values:
            target[...] = value


def _matrix(patch):
    """The two extents of a patch that has others of one element."""
    long = [n for n in patch.shape if n != 1]
    if len(patch.shape) == 2:
        return list(patch.shape)
    if len(long) > 2:
        raise ValueError(f"ga: a product takes matrices; got a patch of {patch.shape}")
    return [1] * (2 - len(long)) + long


def _axes(patch):
    """The two axes of a patch that _matrix means."""
    if len(patch.shape) == 2:
        return 0, 1
    long = [k for k, n in enumerate(patch.shape) if n != 1]
    spare = [k for k in range(len(patch.shape)) if k not in long]
    return sorted(spare[: 2 - len(long)] + long)


def _pair(index, patch, other=0):
    i, j = _axes(patch)
    return index[i], index[j]


def _cut(patch, i, i2, j, j2):
    """Rows i to i2 and columns j to j2 of a patch, as a matrix."""
    if patch.transposed:
        plain = Operand.__new__(Operand)
        plain.__dict__.update(patch.__dict__, transposed=False, shape=patch.shape[::-1])
        return _cut(plain, j, j2, i, i2).T
    lo, hi = list(patch.lo), list(patch.hi)
    for axis, (first, last) in zip(_axes(patch), ((i, i2), (j, j2)), strict=True):
        hi[axis] = patch.lo[axis] + last
        lo[axis] = patch.lo[axis] + first
    return patch.array.read(lo, hi).reshape(i2 - i, j2 - j)


def gemm(ta, tb, m, n, k, alpha, g_a, g_b, beta, g_c):
    """c = alpha * op(a) @ op(b) + beta * c; op(a) is (m, k), op(b) (k, n), transposed if `ta`, `tb`."""
    ahi = (k, m) if ta else (m, k)
    bhi = (n, k) if tb else (k, n)
    a, b = Operand(g_a, (0, 0), ahi, ta), Operand(g_b, (0, 0), bhi, tb)
    _product(alpha, a, b, beta, Operand(g_c, (0, 0), (m, n)))


def matmul_patch(transa, transb, alpha, beta, g_a, alo, ahi, g_b, blo, bhi, g_c, clo, chi):
    """As `gemm`, for patches; those of more than two axes have one element along the others."""
    alpha = 1 if alpha is None else alpha
    beta = 1 if beta is None else beta
    a, b = Operand(g_a, alo, ahi, transa), Operand(g_b, blo, bhi, transb)
    _product(alpha, a, b, beta, Operand(g_c, clo, chi))


# Systems and eigenvalues.


def _whole(g_a):
    a = Operand(g_a)
    if len(a.shape) > 2 or a.array.dtype.kind not in "fc":
        raise TypeError(f"ga: expected a floating-point matrix; got {a.array.dtype} {a.shape}")
    return a.array.read(a.lo, a.hi)


def _store(g_a, values):
    """Each rank writes its own parts of values that all ranks have."""
    a = allocated(g_a)
    for number, lo, hi in a.own():
        cut = tuple(slice(x, y) for x, y in zip(lo, hi, strict=True))
        a.here(number, lo, hi)[...] = values[cut].astype(a.dtype)


def _minor(matrix):
    """The order of the first leading minor that is not positive definite; 0 if there is none."""
    if _definite(matrix):
        return 0
    low, high = 0, matrix.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if _definite(matrix[:middle, :middle]):
            low = middle
        else:
            high = middle
    return high


def _definite(matrix):
    try:
        un.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def llt_solve(g_a, g_b):
    """Solve A X = B for a positive definite A; B becomes X. Returns 0, or the order of the minor that is not."""
    with collective(allocated(g_a)):
        a, b = _whole(g_a), _whole(g_b)
        order = _minor(a)
        synchronize(allocated(g_a).group)
        if order == 0:
            _store(g_b, un.linalg.solve(a, b))
    return order


def lu_solve(g_a, g_b, trans=False):
    """Solve A X = B, or the transpose of A; B becomes X."""
    with collective(allocated(g_a)):
        a, b = _whole(g_a), _whole(g_b)
        synchronize(allocated(g_a).group)
        _store(g_b, un.linalg.solve(a.T.copy() if trans else a, b))


def solve(g_a, g_b):
    """Solve A X = B; B becomes X. Returns 0 if A is positive definite, else the order of the minor that is not."""
    order = llt_solve(g_a, g_b)
    if order:
        lu_solve(g_a, g_b)
    return order


def spd_invert(g_a):
    """Invert a positive definite matrix in place. Returns 0, or the order of the minor that is not."""
    with collective(allocated(g_a)):
        a = _whole(g_a)
        order = _minor(a)
        synchronize(allocated(g_a).group)
        if order == 0:
            _store(g_a, un.linalg.inv(a))
    return order


def _values(values, given):
    values = np.asarray(values)
    if given is None:
        return values
    given[...] = values
    return given


def diag_std(g_a, g_v, evalues=None):
    """Eigenvalues of a symmetric matrix, ascending; the eigenvectors go into g_v, as columns."""
    with collective(allocated(g_a)):
        values, vectors = un.linalg.eigh(_whole(g_a))
        _store(g_v, vectors)
    return _values(values, evalues)


_factors = {}


def diag_reuse(control, g_a, g_s, g_v, evalues=None):
    """As `diag`; the factor of g_s is kept for calls with control > 0, made anew with 0, forgotten with less."""
    if control < 0:
        _factors.pop(g_s, None)
        return evalues
    with collective(allocated(g_a)):
        if control == 0 or g_s not in _factors:
            _factors[g_s] = un.linalg.inv(un.linalg.cholesky(_whole(g_s)))
        inverse = _factors[g_s]
        adjoint = un.conj(inverse).T
        values, vectors = un.linalg.eigh(inverse @ _whole(g_a) @ adjoint)
        _store(g_v, adjoint @ vectors)
    return _values(values, evalues)


def diag(g_a, g_s, g_v, evalues=None):
    """Eigenvalues of A v = e S v for symmetric A and positive definite S; the vectors go into g_v, as columns."""
    found = diag_reuse(0, g_a, g_s, g_v, evalues)
    _factors.pop(g_s, None)
    return found
