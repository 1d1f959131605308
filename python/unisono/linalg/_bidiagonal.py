"""Singular vectors of one large matrix by its bidiagonal form: no rank holds the whole.

Reflections make the matrix bidiagonal, a column and a row at a time; those of a block change the rest together (Dongarra,
Hammarling and Sorensen 1989). All ranks divide the bidiagonal matrix alike; each makes its share of its singular vectors and
reflects them back.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere
from ._divided import Divided

# Columns and rows whose reflections are applied together.
_width = 32


def svd(a, is_full=False):
    """(u, s, vh); u and vh are square where they are full."""
    m, n = a.shape
    if m < n:
        u, s, vh = svd(a.T.conj(), is_full)
        return vh.T.conj(), s, u.T.conj()
    if m >= 2 * n:
        q, r = un.linalg.qr(a, mode="complete" if is_full else "reduced")
        u, s, vh = un.linalg.svd(r[:n])
        u = q[:, :n] @ u
        return un.concatenate([u, q[:, n:]], axis=1) if is_full else u, s, vh
    mesh, letter = a.mesh, LETTERS[a.dtype.name]
    table, left, right, upper, d, e = _reduced(a, letter)
    rows = un.empty((n, n), d.dtype, mesh=mesh)
    v = un.empty((n, n), a.dtype, mesh=mesh, layout=(None, "block"))
    with un.device("cpu"):
        divided = Divided(d, e, "svd: SVD")
        rows.local = divided.left_rows(rows.global_index[0])
        v.local = divided.right_columns(v.global_index[1]).astype(a.dtype)
    u = un.eye(m, m if is_full else n, dtype=a.dtype, device=mesh).to_layout((None, "block"))
    u[:n, :n] = rows
    reflect_back(u, table, 0, left)
    reflect_back(v, right, 1, upper)
    return u.to_layout("block"), un.asarray(divided.values, device=mesh), v.T.conj()


def reflect_back(x, reflectors, offset, tau):
    """Apply reflections, the last first, to columns of which each rank has some."""
    larft, width = getattr(_lapack, LETTERS[x.dtype.name] + "larft"), _blocks.block_of(x.shape[0])
    with un.device("cpu"):
        for first in reversed(range(0, tau.shape[0], width)):
            some = tau[first : first + width]
            v = everywhere(reflectors[first + offset :, first : first + some.shape[0]])
            v = un.tril(v)  # what is above is of the matrix before
            _blocks.update(x[first + offset :], _reflect, v, larft(v, some))


def _reflect(own, v, t):
    return own - v @ (t @ (v.conj().T @ own))


def _reduced(a, letter):
    """The reflectors of columns and of rows, each with their factors, and on all ranks the diagonal and what is beside it."""
    (m, n), mesh = a.shape, a.mesh
    table, size = _blocks.dealt(a)
    right = un.zeros((n, n), a.dtype, mesh=mesh, layout=(("cyclic", size), None))
    products = un.empty(m, a.dtype, mesh=mesh, layout=(("cyclic", size),))
    larfg, real = getattr(_lapack, letter + "larfg"), abs(un.zeros(0, a.dtype)).dtype
    d, e = (un.zeros(k, real, device="cpu") for k in (n, n - 1))
    left, upper = (un.zeros(k, a.dtype, device="cpu") for k in (n, n - 1))
    with un.device("cpu"):
        for first in range(0, n, _width):
            count = min(_width, n - first)
            end = first + count
            columns = everywhere(table[first:, first:end])
            rows = everywhere(table[first:end, first:])
            # The matrix is now what it was less v @ y.conj().T and x @ u.conj().T.
            v, x = un.zeros(columns.shape, a.dtype), un.zeros(columns.shape, a.dtype)
            u, y = un.zeros((n - first, count), a.dtype), un.zeros((n - first, count), a.dtype)
            rest = table[first:, first:]
            own, indices = rest.local, un.arange(m - first)[rest.global_index[0]]
            for k in range(count):
                now = columns[k:, k] - v[k:, :k] @ y[k, :k].conj() - x[k:, :k] @ u[k, :k].conj()
                d[first + k], v[k:, k], left[first + k] = larfg(now)
                if first + k == n - 1:
                    break
                one = v[k:, k].copy()
                mine = indices >= k
                there = int(mine.sum())
                below = own[len(indices) - there :, k + 1 :]
                part = below.T @ one[indices[len(indices) - there :] - k].conj()
                product = _blocks.sum_of_ranks(mesh, part).conj()
                product = product - y[k + 1 :, :k] @ (v[k:, :k].conj().T @ one)
                product = product - u[k + 1 :, :k] @ (x[k:, :k].conj().T @ one)
                y[k + 1 :, k] = product * left[first + k]
                now = rows[k, k + 1 :] - y[k + 1 :, : k + 1].conj() @ v[k, : k + 1]
                now = now - u[k + 1 :, :k].conj() @ x[k, :k]
                e[first + k], u[k + 1 :, k], upper[first + k] = larfg(now.conj())
                one = u[k + 1 :, k].copy()
                part = products[first + k + 1 :]
                part.local = own[len(indices) - part.local.shape[0] :, k + 1 :] @ one
                product = everywhere(part)
                product = product - v[k + 1 :, : k + 1] @ (y[k + 1 :, : k + 1].conj().T @ one)
                product = product - x[k + 1 :, :k] @ (u[k + 1 :, :k].conj().T @ one)
                x[k + 1 :, k] = product * upper[first + k]
            table[first:, first:end], right[first:, first:end] = v, u
            if end < n:
                rest = table[end:, end:]
                _blocks.update(rest, _subtract, v[count:], y[count:], x[count:], u[count:], rest.global_index[0])  # fmt: skip
    return table, left, right, upper, d, e


def _subtract(own, v, y, x, u, indices):
    return own - v[indices] @ y.conj().T - x[indices] @ u.conj().T
