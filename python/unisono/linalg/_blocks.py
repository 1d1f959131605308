"""Cholesky factors, elimination and determinants of one large matrix, block by block: no rank holds the whole.

Blocks of rows are dealt out to the ranks in turn, so that all have work to the end. Of each step all ranks get the block
of columns that is eliminated, and the rows that belong to it; each updates its own rows of the rest.
"""

import unisono as un

from .. import _engine
from . import _blas, _lapack
from ._checks import _linalg_error

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def suits(a, *others):
    """Whether a matrix is factored by blocks."""
    mesh = getattr(a, "mesh", None)
    return (
        mesh is not None
        and mesh.size > 1
        and a.ndim == 2
        and a.size * a.itemsize > _engine._alike_bytes
        and all(x.mesh is None or x.mesh == mesh for x in others)
    )


def suits_columns(a):
    """Whether one is factored by blocks of columns, and not by the ranks' rows, which have to be many."""
    return not _is_tall(a) and suits(a)


def suits_vectors(a, may_be_tall=False):
    """Whether singular vectors or eigenvectors are found by parts."""
    is_large = a.size * a.itemsize > _engine._alike_rotated_bytes and min(a.shape) > 3
    return is_large and (may_be_tall or not _is_tall(a)) and suits(a)


def _is_tall(a):
    return a.mesh is not None and a.dtype.kind == "f" and a.shape[0] // a.mesh.size >= a.shape[-1]


def block_of(n):
    """Rows or columns of a block: products of that depth run at full speed, and messages are few."""
    return max(32, min(256, n // 8))


everywhere = _engine._mesh_panel


def dealt(x):
    """A copy whose blocks of rows go to the ranks in turn, and how many rows a block has."""
    rows = block_of(x.shape[0])
    made = un.empty(x.shape, x.dtype, mesh=x.mesh, layout=(("cyclic", rows), None))
    made[...] = x
    return made, rows


def update(x, change, *arguments):
    """Let each rank that has some of `x` change its part: `change` gets it and returns the new one."""
    own = x.local
    x.local = change(own, *arguments) if own.size > 0 else own


def sum_of_ranks(mesh, part):
    """The sum of what the ranks have, on all of them."""
    parts = un.empty((mesh.size, *part.shape), part.dtype, mesh=mesh)
    parts.local = part[None]
    return everywhere(parts).sum(axis=0)


def hermitian(a, is_upper):
    """The matrix whose one triangle is that of `a`."""
    half = settled(un.triu(a, 1) if is_upper else un.tril(a, -1))
    is_diagonal = un.eye(a.shape[0], dtype=bool, device=a.mesh)
    return half + half.T.conj() + settled(un.where(is_diagonal, a.real, 0))


def settled(x):
    """`x` spread as its operands are, so that vectors beside columns stay where these are."""
    un.eval(x)
    return x


def subtract_product(own, a, b):
    return own - a @ b


def subtract_both(own, v, w, indices):
    return own - v[indices] @ w.conj().T - w[indices] @ v.conj().T


def cholesky(a):
    """The lower factor, of the lower triangle of `a`."""
    n, letter = a.shape[0], LETTERS[a.dtype.name]
    trsm = getattr(_blas, letter + "trsm")
    rest, rows = dealt(a)
    made = un.zeros((n, n), a.dtype, mesh=a.mesh, layout=(("cyclic", rows), None))
    with un.device("cpu"):
        for first in range(0, n, rows):
            end = min(first + rows, n)
            try:
                corner = un.linalg.cholesky(everywhere(rest[first:end, first:end]))
            except un.linalg.LinAlgError as error:  # all ranks have the same corner
                raise _linalg_error("cholesky: Matrix is not positive definite") from error
            made[first:end, first:end] = corner
            if end == n:
                break
            # X @ corner.conj().T is what the rest has in these columns.
            below = made[end:, first:end]
            below[...] = rest[end:, first:end]
            update(below, lambda own, c: trsm(1, c, own, side=1, lower=1, trans_a=2), corner)
            whole = everywhere(below).conj().T
            width = max(rows, (n - end) // 4)
            for left in range(end, n, width):  # hardly more than the triangle
                factor, columns = made[left:, first:end].local, whole[:, left - end :][:, :width]
                update(rest[left:, left:][:, :width], subtract_product, factor, columns)
    return made.to_layout("block")


def solve(a, b, what="solve"):
    """x of ``a @ x = b``, of a matrix `b`, by elimination with row exchanges."""
    n, width, letter = a.shape[0], b.shape[1], LETTERS[a.dtype.name]
    trsm, rows = getattr(_blas, letter + "trsm"), block_of(n)
    table = un.empty((n, n + width), a.dtype, mesh=a.mesh, layout=(("cyclic", rows), None))
    table[:, :n], table[:, n:] = a, b
    if _eliminate(table, rows) is None:
        raise _linalg_error(f"{what}: Singular matrix")
    with un.device("cpu"):
        x = un.empty((n, width), a.dtype, mesh=a.mesh)
        for first in reversed(range(0, n, rows)):
            end = min(first + rows, n)
            corner = everywhere(table[first:end, first:end])
            found = trsm(1, corner, everywhere(table[first:end, n:]))
            x[first:end] = found
            if first > 0:
                factor = table[:first, first:end].local
                update(table[:first, n:], subtract_product, factor, found)
    return x


def determinant(a):
    """The determinant, its sign or phase, and the logarithm of its absolute value."""
    table, rows = dealt(a)
    eliminated = _eliminate(table, rows)
    with un.device("cpu"):
        if eliminated is None:
            sign = un.zeros((), a.dtype)
            logarithm = un.full((), -un.inf, un.real(sign).dtype)
        else:
            diagonal, is_odd = eliminated
            sizes = abs(diagonal)
            sign = un.prod(diagonal / sizes)
            sign = -sign if is_odd else sign
            logarithm = un.log(sizes).sum()
        made = sign * un.exp(logarithm), sign, logarithm
    return tuple(un.asarray(x, device=a.mesh) for x in made)


def _eliminate(table, rows):
    """Eliminate below the diagonal of a table that has as many rows as its matrix, and maybe columns behind that.

    Returns the diagonal and whether rows were exchanged an odd number of times; None of a singular matrix.
    """
    n, letter = table.shape[0], LETTERS[table.dtype.name]
    trsm, getrf = getattr(_blas, letter + "trsm"), getattr(_lapack, letter + "getrf")
    diagonal, exchanges = [], 0
    with un.device("cpu"):
        for first in range(0, n, rows):
            end = min(first + rows, n)
            factors, pivots, info = getrf(everywhere(table[first:, first:end]))
            if info:
                return None
            table[first:end, first:end] = factors[: end - first]
            diagonal.append(un.diagonal(factors).copy())
            exchanges += sum(k != other for k, other in enumerate(pivots.tolist()))
            if end == table.shape[1]:
                break
            _exchange_rows(table, first, end, pivots)
            upper = everywhere(table[first:end, end:])
            upper = trsm(1, factors[: end - first], upper, lower=1, diag=1)
            table[first:end, end:] = upper
            if end < n:
                rest = table[end:, end:]
                lower = factors[end - first :][rest.global_index[0]]
                update(rest, subtract_product, lower, upper)
        return un.concatenate(diagonal), exchanges % 2 == 1


def _exchange_rows(table, first, end, pivots):
    """Do to the columns behind the block what the factorisation did to its rows."""
    order = {}  # row: which one comes there
    for k, other in enumerate(pivots.tolist()):
        order[k], order[other] = order.get(other, other), order.get(k, k)
    moved = [(to, source) for to, source in order.items() if to != source]
    if not moved:
        return
    rest = table[first:, end:]
    rows = everywhere(rest[un.asarray([source for _, source in moved])])
    place = {to: k for k, (to, _) in enumerate(moved)}
    indices = rest.global_index[0]

    def take(own):
        there = un.arange(rest.shape[0])[indices].tolist()
        mine = [k for k, row in enumerate(there) if row in place]
        if mine:
            own = own.copy()
            own[mine] = rows[[place[there[k]] for k in mine]]
        return own

    update(rest, take)
