"""Eigenvectors of one large Hermitian matrix by its tridiagonal form: no rank holds the whole.

Reflections make the matrix tridiagonal, a column at a time; those of a block of columns change the rest together
(Dongarra, Hammarling and Sorensen 1989). Each rank finds its share of the eigenvectors of what is left, by relatively
robust representations (Dhillon and Parlett 2004), and reflects them back.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere
from ._checks import _epsilon

# Columns whose reflections are applied together.
_width = 32


def eigh(a):
    """Eigenvalues in rising order, and the vectors; None where they did not converge, or are not orthogonal."""
    n, mesh, letter = a.shape[0], a.mesh, LETTERS[a.dtype.name]
    table, rows = _blocks.dealt(a)
    d, e, taus = _reduced(table, rows, letter)
    stemr = getattr(_lapack, _lapack.real_letter(letter) + "stemr")
    w = un.empty(n, d.dtype, mesh=mesh)
    v = un.empty((n, n), a.dtype, mesh=mesh, layout=(None, "block"))
    with un.device("cpu"):
        if not (un.isfinite(d).all() and un.isfinite(e).all()):  # all ranks have the same
            return None
        share = w.global_index[0]
        if share.stop > share.start:
            values, vectors, info = stemr(d, e, share.start, share.stop)
            w.local = un.full_like(values, un.nan) if info else values
            v.local = vectors.astype(a.dtype, copy=False)
        for first, tau in reversed(taus):
            reflectors = everywhere(table[first + 1 :, first : first + tau.shape[0]])
            t = getattr(_lapack, letter + "larft")(reflectors, tau)
            _blocks.update(v[first + 1 :], _reflect, reflectors, t)
    w, v = un.sort(everywhere(w)), v.to_layout("block")
    overlap = v.T.conj() @ v - un.eye(n, dtype=a.dtype, device=mesh)
    # Of vectors of a cluster that several ranks share, two may be the same.
    if not un.isfinite(w).all() or not float(abs(overlap).max()) ** 2 <= _epsilon(a.dtype):
        return None
    return un.asarray(w, device=mesh), v - v @ (
        0.5 * overlap
    )  # one step to the closest unitary matrix


def _reflect(own, v, t):
    return own - v @ (t @ (v.conj().T @ own))


def _reduced(table, rows, letter):
    """Diagonal and what is beside it, on all ranks, and where each block of reflectors begins in the table, with their factors."""
    n, mesh = table.shape[0], table.mesh
    larfg, real = getattr(_lapack, letter + "larfg"), abs(un.zeros(0, table.dtype)).dtype
    products = un.empty(n, table.dtype, mesh=mesh, layout=(("cyclic", rows),))
    d, e, taus = un.zeros(n, real, device="cpu"), un.zeros(max(0, n - 1), real, device="cpu"), []
    with un.device("cpu"):
        for first in range(0, n, _width):
            count = min(_width, n - first)
            column = everywhere(table[first:, first : first + count])
            v, w = un.zeros(column.shape, table.dtype), un.zeros(column.shape, table.dtype)
            tau = un.zeros(count, table.dtype)
            rest = table[first:, first:]
            own, indices = rest.local, rest.global_index[0]
            for k in range(count):
                # What the reflections of the block would have made of the column.
                now = column[k:, k] - v[k:, :k] @ w[k, :k].conj() - w[k:, :k] @ v[k, :k].conj()
                d[first + k] = now[0].real
                if first + k == n - 1:
                    break
                e[first + k], v[k + 1 :, k], tau[k] = larfg(now[1:])
                x = v[k + 1 :, k].copy()
                below = products[first + k + 1 :]
                below.local = own[len(indices) - below.local.shape[0] :, k + 1 :] @ x
                y = everywhere(below)
                one, other = v[k + 1 :, :k], w[k + 1 :, :k]
                y = y - one @ (other.conj().T @ x) - other @ (one.conj().T @ x)
                y = y * tau[k]
                w[k + 1 :, k] = y - x * (0.5 * tau[k] * un.vdot(y, x))
            end = first + count
            used = min(count, n - 1 - first)
            if used > 0:
                taus.append((first, tau[:used].copy()))
                table[first:, first:end] = v
            if end < n:
                rest = table[end:, end:]
                _blocks.update(
                    rest, _blocks.subtract_both, v[count:], w[count:], rest.global_index[0]
                )
    return d, e, taus
