"""``cupy.linalg``: `unisono.linalg`, where numbers of matrices are arrays of rank 0."""

from __future__ import annotations

import unisono as _un


def matrix_rank(M, tol=None, **options):
    """`unisono.linalg.matrix_rank`, which is an array also of one matrix.

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.linalg.matrix_rank(cp.eye(3)).get()
    array(3)
    """
    return _un.asarray(_un.linalg.matrix_rank(M, tol, **options))


def __getattr__(name):
    return getattr(_un.linalg, name)


def __dir__():
    return sorted({*dir(_un.linalg), "matrix_rank"})
