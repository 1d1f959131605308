"""Factors of one large matrix whose rows are spread over ranks, block by block: no rank holds the whole.

Blocks of rows are dealt out to the ranks in turn, so that all have work to the end. Of each step all ranks get the block
of columns that is eliminated, and the rows that belong to it; each updates its own rows of the rest.
"""

import unisono as un

from . import _blas, _lapack
from ._checks import _linalg_error

# Rows of a block: products of that depth run at full speed, and messages are few.
_rows = 256
# Smaller matrices are factored by all ranks alike.
_least = 4 * _rows
_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def suits(a, *others):
    """Whether a matrix is factored by blocks."""
    mesh = getattr(a, "mesh", None)
    return (
        mesh is not None
        and mesh.size > 1
        and a.ndim == 2
        and a.shape[0] >= _least
        and all(x.mesh is None or x.mesh == mesh for x in others)
    )


def _dealt(x):
    """A copy whose blocks of rows go to the ranks in turn."""
    made = un.empty(x.shape, x.dtype, mesh=x.mesh, layout=(("cyclic", _rows), None))
    made[...] = x
    return made


def _everywhere(x):
    return x.to_layout("replicated").local


def _update(x, change, *arguments):
    """Let each rank that has some of `x` change its part: `change` gets it and returns the new one."""
    own = x.local
    x.local = change(own, *arguments) if own.size > 0 else own


def _subtract_product(own, a, b):
    return own - a @ b


def cholesky(a):
    """The lower factor, of the lower triangle of `a`."""
    n, letter = a.shape[0], _LETTERS[a.dtype.name]
    trsm = getattr(_blas, letter + "trsm")
    rest = _dealt(a)
    made = un.zeros((n, n), a.dtype, mesh=a.mesh, layout=(("cyclic", _rows), None))
    with un.device("cpu"):
        for first in range(0, n, _rows):
            end = min(first + _rows, n)
            try:
                corner = un.linalg.cholesky(_everywhere(rest[first:end, first:end]))
            except un.linalg.LinAlgError as error:  # all ranks have the same corner
                raise _linalg_error("cholesky: Matrix is not positive definite") from error
            made[first:end, first:end] = corner
            if end == n:
                break
            # X @ corner.conj().T is what the rest has in these columns.
            below = made[end:, first:end]
            below[...] = rest[end:, first:end]
            _update(below, lambda own, c: trsm(1, c, own, side=1, lower=1, trans_a=2), corner)
            whole = _everywhere(below).conj().T
            width = max(_rows, (n - end) // 4)
            for left in range(end, n, width):  # hardly more than the triangle
                factor, columns = made[left:, first:end].local, whole[:, left - end :][:, :width]
                _update(rest[left:, left:][:, :width], _subtract_product, factor, columns)
    return made.to_layout("block")


def solve(a, b):
    """x of ``a @ x = b``, of a matrix `b`, by elimination with row exchanges."""
    n, width, letter = a.shape[0], b.shape[1], _LETTERS[a.dtype.name]
    trsm, getrf = getattr(_blas, letter + "trsm"), getattr(_lapack, letter + "getrf")
    table = un.empty((n, n + width), a.dtype, mesh=a.mesh, layout=(("cyclic", _rows), None))
    table[:, :n], table[:, n:] = a, b
    with un.device("cpu"):
        for first in range(0, n, _rows):
            end = min(first + _rows, n)
            factors, pivots, info = getrf(_everywhere(table[first:, first:end]))
            if info:
                raise _linalg_error("solve: Singular matrix")
            table[first:end, first:end] = factors[: end - first]
            _exchange_rows(table, first, end, pivots)
            upper = trsm(
                1, factors[: end - first], _everywhere(table[first:end, end:]), lower=1, diag=1
            )
            table[first:end, end:] = upper
            if end < n:
                rest = table[end:, end:]
                lower = factors[end - first :][rest.global_index[0]]
                _update(rest, _subtract_product, lower, upper)
        x = un.empty((n, width), a.dtype, mesh=a.mesh)
        for first in reversed(range(0, n, _rows)):
            end = min(first + _rows, n)
            corner = _everywhere(table[first:end, first:end])
            found = trsm(1, corner, _everywhere(table[first:end, n:]))
            x[first:end] = found
            if first > 0:
                factor = table[:first, first:end].local
                _update(table[:first, n:], _subtract_product, factor, found)
    return x


def _exchange_rows(table, first, end, pivots):
    """Do to the columns behind the block what the factorisation did to its rows."""
    order = {}  # row: which one comes there
    for k, other in enumerate(pivots.tolist()):
        order[k], order[other] = order.get(other, other), order.get(k, k)
    moved = [(to, source) for to, source in order.items() if to != source]
    if not moved:
        return
    rest = table[first:, end:]
    rows = _everywhere(rest[un.asarray([source for _, source in moved])])
    place = {to: k for k, (to, _) in enumerate(moved)}
    indices = rest.global_index[0]

    def take(own):
        there = un.arange(rest.shape[0])[indices].tolist()
        mine = [k for k, row in enumerate(there) if row in place]
        if mine:
            own = own.copy()
            own[mine] = rows[[place[there[k]] for k in mine]]
        return own

    _update(rest, take)
