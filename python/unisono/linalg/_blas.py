"""The routines of BLAS under their own names, in the manner of ``scipy.linalg.blas``.

Each name begins with its type: s and d for float32 and float64, c and z for complex64 and complex128.
Results are new arrays, in the columns-first order of BLAS where they are matrices.
"""

from .. import _engine
from .._arrays.creation import zeros
from .._numpy.products import _array

_DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}


def columns(x, dtype):
    """A copy of a matrix whose columns lie one after the other, as the transposed packed array."""
    return _array(x).T.astype(dtype, copy=False).copy()


def vector(x, dtype):
    """A packed copy of a vector."""
    return _array(x).reshape(-1).astype(dtype, copy=False).copy()


def scalar(alpha, letter):
    """A number as the routines of that letter take it."""
    return complex(alpha) if letter in "cz" else float(alpha)


def _letter(trans):
    if trans not in (0, 1, 2):
        raise ValueError(
            f"blas: trans must be 0, 1 (transposed) or 2 (also conjugated); got {trans}"
        )
    return "NTC"[trans]


def _target(given, shape, letter):
    """The columns of what is added to, or zeros."""
    if given is None:
        return zeros(shape[::-1], _DTYPES[letter])
    made = columns(given, _DTYPES[letter])
    if made.shape[::-1] != tuple(shape):
        raise ValueError(
            f"blas: the matrix to add to has shape {made.shape[::-1]}; expected {shape}"
        )
    return made


def _same(what, one, two):
    if one != two:
        raise ValueError(f"{what}: extents differ; got {one} and {two}")


def _gemm(t):
    def gemm(alpha, a, b, beta=0.0, c=None, trans_a=0, trans_b=0, overwrite_c=0):
        """``alpha * op(a) @ op(b) + beta * c``."""
        x, y = columns(a, _DTYPES[t]), columns(b, _DTYPES[t])
        m, k = x.shape if trans_a else x.shape[::-1]
        k2, n = y.shape if trans_b else y.shape[::-1]
        _same(t + "gemm", k, k2)
        z = _target(c, (m, n), t)
        _engine._fortran(
            t + "gemm", _letter(trans_a), _letter(trans_b), m, n, k, scalar(alpha, t), x, max(1, x.shape[1]),
            y, max(1, y.shape[1]), scalar(beta, t), z, max(1, m),
        )  # fmt: skip
        return z.T

    return gemm


def _gemv(t):
    def gemv(alpha, a, x, beta=0.0, y=None, trans=0, overwrite_y=0):
        """``alpha * op(a) @ x + beta * y``."""
        m = columns(a, _DTYPES[t])
        v = vector(x, _DTYPES[t])
        n, rows = m.shape
        _same(t + "gemv", rows if trans else n, v.shape[0])
        size = n if trans else rows
        w = zeros(size, _DTYPES[t]) if y is None else vector(y, _DTYPES[t])
        _same(t + "gemv", size, w.shape[0])
        _engine._fortran(
            t + "gemv",
            _letter(trans),
            rows,
            n,
            scalar(alpha, t),
            m,
            max(1, rows),
            v,
            1,
            scalar(beta, t),
            w,
            1,
        )
        return w

    return gemv


def _ger(t):
    name = {"c": "geru", "z": "geru"}.get(t, "ger")

    def ger(alpha, x, y, a=None):
        """``alpha * outer(x, y) + a``."""
        v, w = vector(x, _DTYPES[t]), vector(y, _DTYPES[t])
        m, n = v.shape[0], w.shape[0]
        z = _target(a, (m, n), t)
        _engine._fortran(t + name, m, n, scalar(alpha, t), v, 1, w, 1, z, max(1, m))
        return z.T

    return ger


def _axpy(t):
    def axpy(x, y, a=1.0):
        """``a * x + y`` of vectors."""
        v, w = vector(x, _DTYPES[t]), vector(y, _DTYPES[t])
        _same(t + "axpy", v.shape[0], w.shape[0])
        _engine._fortran(t + "axpy", v.shape[0], scalar(a, t), v, 1, w, 1)
        return w

    return axpy


def _scal(t):
    def scal(a, x):
        """``a * x`` of a vector."""
        v = vector(x, _DTYPES[t])
        _engine._fortran(t + "scal", v.shape[0], scalar(a, t), v, 1)
        return v

    return scal


def _dot(t):
    def dot(x, y):
        """Dot product of vectors."""
        v, w = vector(x, _DTYPES[t]), vector(y, _DTYPES[t])
        _same(t + "dot", v.shape[0], w.shape[0])
        return _engine._fortran(t + "dot", v.shape[0], v, 1, w, 1)

    return dot


def _of_one_vector(t, name, text):
    def of_one_vector(x):
        v = vector(x, _DTYPES[t])
        return _engine._fortran(t + name, v.shape[0], v, 1)

    of_one_vector.__doc__ = text
    return of_one_vector


def _amax(t):
    def amax(x):
        """Index of the largest absolute value of a vector."""
        v = vector(x, _DTYPES[t])
        return _engine._fortran(f"i{t}amax", v.shape[0], v, 1) - 1

    return amax


def _syrk(t):
    def syrk(alpha, a, beta=0.0, c=None, trans=0, lower=0, overwrite_c=0):
        """``alpha * a @ a.T + beta * c``, or of ``a.T @ a``; one triangle is written."""
        x = columns(a, _DTYPES[t])
        n, k = x.shape if trans else x.shape[::-1]
        z = _target(c, (n, n), t)
        _engine._fortran(
            t + "syrk", "L" if lower else "U", "T" if trans else "N", n, k, scalar(alpha, t), x,
            max(1, x.shape[1]), scalar(beta, t), z, max(1, n),
        )  # fmt: skip
        return z.T

    return syrk


def _symm(t):
    def symm(alpha, a, b, beta=0.0, c=None, side=0, lower=0, overwrite_c=0):
        """``alpha * a @ b + beta * c`` for symmetric a, or of ``b @ a``."""
        x, y = columns(a, _DTYPES[t]), columns(b, _DTYPES[t])
        n, m = y.shape
        z = _target(c, (m, n), t)
        _engine._fortran(
            t + "symm", "R" if side else "L", "L" if lower else "U", m, n, scalar(alpha, t), x,
            max(1, x.shape[1]), y, max(1, m), scalar(beta, t), z, max(1, m),
        )  # fmt: skip
        return z.T

    return symm


def _triangular(t, name, text):
    def triangular(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
        x, y = columns(a, _DTYPES[t]), columns(b, _DTYPES[t])
        n, m = y.shape
        _same(t + name, x.shape[0], n if side else m)
        _engine._fortran(
            t + name, "R" if side else "L", "L" if lower else "U", _letter(trans_a), "U" if diag else "N", m, n,
            scalar(alpha, t), x, max(1, x.shape[1]), y, max(1, m),
        )  # fmt: skip
        return y.T

    triangular.__doc__ = text
    return triangular


def _vector_triangular(t, name, text):
    def triangular(a, x, lower=0, trans=0, diag=0, overwrite_x=0):
        m, v = columns(a, _DTYPES[t]), vector(x, _DTYPES[t])
        n = v.shape[0]
        _same(t + name, m.shape, (n, n))
        _engine._fortran(
            t + name,
            "L" if lower else "U",
            _letter(trans),
            "U" if diag else "N",
            n,
            m,
            max(1, n),
            v,
            1,
        )
        return v

    triangular.__doc__ = text
    return triangular


def _all():
    made = {}
    for t in "sdcz":
        made[t + "gemm"], made[t + "gemv"] = _gemm(t), _gemv(t)
        made[t + ("geru" if t in "cz" else "ger")] = _ger(t)
        made[t + "axpy"], made[t + "scal"] = _axpy(t), _scal(t)
        made[t + "syrk"], made[t + "symm"] = _syrk(t), _symm(t)
        made[t + "trsm"] = _triangular(
            t, "trsm", "X of ``op(a) @ X = alpha * b``, or of ``X @ op(a)``."
        )
        made[t + "trmm"] = _triangular(
            t, "trmm", "``alpha * op(a) @ b`` for triangular a, or ``b @ op(a)``."
        )
        made[t + "trsv"] = _vector_triangular(t, "trsv", "x of ``op(a) @ x = given``.")
        made[t + "trmv"] = _vector_triangular(t, "trmv", "``op(a) @ x`` for triangular a.")
    for t in "sd":
        made[t + "dot"], made[f"i{t}amax"] = _dot(t), _amax(t)
        made[t + "nrm2"] = _of_one_vector(t, "nrm2", "Euclidean norm of a vector.")
        made[t + "asum"] = _of_one_vector(t, "asum", "Sum of absolute values of a vector.")
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
    return made


globals().update(_all())
