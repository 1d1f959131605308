"""Eigenvectors of one large Hermitian matrix by its tridiagonal form: no rank holds the whole.

Reflections make the matrix tridiagonal, a column at a time; those of a block of columns change the rest together
(Dongarra, Hammarling and Sorensen 1989). Moved so far that it is positive definite, a tridiagonal matrix is the square of a
bidiagonal one, whose right singular vectors are its eigenvectors; each rank finds some of them, and reflects these back.
"""

import unisono as un

from . import _blocks, _lapack
from ._bidiagonal import reflect_back
from ._blocks import LETTERS, everywhere
from ._checks import _linalg_error
from ._divided import Divided

# Columns whose reflections are applied together.
_width = 32


def eigh(a):
    """Eigenvalues in rising order, and the vectors."""
    n, mesh, letter = a.shape[0], a.mesh, LETTERS[a.dtype.name]
    table, rows = _blocks.dealt(a)
    d, e, tau = _reduced(table, rows, letter)
    v = un.empty((n, n), a.dtype, mesh=mesh, layout=(None, "block"))
    with un.device("cpu"):
        w, divided = _divided(d, e, _lapack.real_letter(letter))
        smallest_first = un.arange(n)[::-1][v.global_index[1]]
        v.local = divided.right_columns(smallest_first).astype(a.dtype)
    reflect_back(v, table, 1, tau)
    return un.asarray(w, device=mesh), v.to_layout("block")


def _divided(d, e, letter):
    """Eigenvalues, and what makes the vectors, the last first."""
    beside = un.zeros(d.shape[0] + 1, d.dtype)
    beside[1:-1] = abs(e)
    around = beside[1:] + beside[:-1]
    least, size = (d - around).min(), (d + around).max() - (d - around).min()
    size = un.where(size == 0, 1, size)
    # No eigenvalue is below `least`; a quarter of their range beyond it the matrix is well conditioned.
    moved, beside, info = getattr(_lapack, letter + "pttrf")((d - least) / size + 0.25, e / size)
    if info:
        raise _linalg_error("eigh: Eigenvalues did not converge")
    root = un.sqrt(moved)
    divided = Divided(root, beside * root[:-1], "eigh: Eigenvalues")
    w, info = getattr(_lapack, letter + "sterf")(d, e)
    if info:
        raise _linalg_error("eigh: Eigenvalues did not converge")
    return w, divided


def _reduced(table, rows, letter):
    """Diagonal, what is beside it, and the factors of the reflectors, which are left in the table."""
    n, mesh = table.shape[0], table.mesh
    larfg, real = getattr(_lapack, letter + "larfg"), abs(un.zeros(0, table.dtype)).dtype
    products = un.empty(n, table.dtype, mesh=mesh, layout=(("cyclic", rows),))
    d, e = (un.zeros(k, real, device="cpu") for k in (n, n - 1))
    tau = un.zeros(n - 1, table.dtype, device="cpu")
    with un.device("cpu"):
        for first in range(0, n, _width):
            count = min(_width, n - first)
            column = everywhere(table[first:, first : first + count])
            v, w = un.zeros(column.shape, table.dtype), un.zeros(column.shape, table.dtype)
            rest = table[first:, first:]
            own, indices = rest.local, rest.global_index[0]
            for k in range(count):
                # What the reflections of the block would have made of the column.
                now = column[k:, k] - v[k:, :k] @ w[k, :k].conj() - w[k:, :k] @ v[k, :k].conj()
                d[first + k] = now[0].real
                if first + k == n - 1:
                    break
                e[first + k], v[k + 1 :, k], tau[first + k] = larfg(now[1:])
                x = v[k + 1 :, k].copy()
                below = products[first + k + 1 :]
                below.local = own[len(indices) - below.local.shape[0] :, k + 1 :] @ x
                y = everywhere(below)
                one, other = v[k + 1 :, :k], w[k + 1 :, :k]
                y = y - one @ (other.conj().T @ x) - other @ (one.conj().T @ x)
                y = y * tau[first + k]
                w[k + 1 :, k] = y - x * (0.5 * tau[first + k] * un.vdot(y, x))
            end = first + count
            table[first:, first:end] = v
            if end < n:
                rest = table[end:, end:]
                _blocks.update(
                    rest, _blocks.subtract_both, v[count:], w[count:], rest.global_index[0]
                )
    return d, e, tau
