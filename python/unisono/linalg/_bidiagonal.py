"""Singular vectors of one large matrix by its bidiagonal form: no rank holds the whole.

Reflections make the matrix bidiagonal, a column and a row at a time; those of a block change the rest together (Dongarra,
Hammarling and Sorensen 1989). All ranks divide the bidiagonal matrix alike, which leaves its singular vectors as products
of few numbers (Gu and Eisenstat 1995); each rank multiplies out its share of them, and reflects it back.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere
from ._checks import _epsilon, _linalg_error

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
        values, factors = divided(d, e, "svd: SVD")
        rows.local = left_rows(factors, un.arange(n)[rows.global_index[0]])
        v.local = right_columns(factors, un.arange(n)[v.global_index[1]]).astype(a.dtype)
    u = un.eye(m, m if is_full else n, dtype=a.dtype, device=mesh).to_layout((None, "block"))
    u[:n, :n] = rows
    reflect_back(u, table, 0, left)
    reflect_back(v, right, 1, upper)
    return u.to_layout("block"), un.asarray(values, device=mesh), v.T.conj()


def divided(d, e, what):
    """Singular values of an upper bidiagonal matrix that all ranks have, the largest first, and factors of its vectors."""
    if not (un.isfinite(d).all() and un.isfinite(e).all()):
        raise _linalg_error(f"{what} did not converge")
    size, least = un.maximum(abs(d).max(), abs(e).max()), _epsilon(d.dtype)
    d, e = (x / un.where(size == 0, 1, size) for x in (d, e))
    d = un.where(abs(d) < least, un.copysign(least, d), d)  # LAPACK divides by them
    values, factors, info = getattr(_lapack, LETTERS[d.dtype.name] + "lasda")(d, e)
    if info:
        raise _linalg_error(f"{what} did not converge")
    order = un.argsort(-values)
    return values[order] * size, (order, factors)


def left_rows(factors, which):
    """Rows of the left singular vectors."""
    order, factors = factors
    return _multiplied(factors, which, 0)[:, order]


def right_columns(factors, which):
    """Some of the right singular vectors."""
    order, factors = factors
    return _multiplied(factors, order[which], 1).T


def _multiplied(factors, which, is_right):
    return getattr(_lapack, LETTERS[factors[1].dtype.name] + "lalsa")(factors, which, is_right)


def reflect_back(x, reflectors, offset, taus):
    """Apply blocks of reflections, the last first, to columns of which each rank has some."""
    larft = getattr(_lapack, LETTERS[x.dtype.name] + "larft")
    with un.device("cpu"):
        for first, tau in reversed(taus):
            v = everywhere(reflectors[first + offset :, first : first + tau.shape[0]])
            _blocks.update(x[first + offset :], _reflect, v, larft(v, tau))


def _reflect(own, v, t):
    return own - v @ (t @ (v.conj().T @ own))


def _reduced(a, letter):
    """The reflectors of columns and of rows, each with their factors, and on all ranks the diagonal and what is beside it."""
    (m, n), mesh = a.shape, a.mesh
    table, size = _blocks.dealt(a)
    right = un.zeros((n, n), a.dtype, mesh=mesh, layout=(("cyclic", size), None))
    products = un.empty(m, a.dtype, mesh=mesh, layout=(("cyclic", size),))
    larfg, real = getattr(_lapack, letter + "larfg"), abs(un.zeros(0, a.dtype)).dtype
    d, e = un.zeros(n, real, device="cpu"), un.zeros(n - 1, real, device="cpu")
    left, upper = [], []
    with un.device("cpu"):
        for first in range(0, n, _width):
            count = min(_width, n - first)
            end = first + count
            columns = everywhere(table[first:, first:end])
            rows = everywhere(table[first:end, first:])
            # The matrix is now what it was less v @ y.conj().T and x @ u.conj().T.
            v, x = un.zeros(columns.shape, a.dtype), un.zeros(columns.shape, a.dtype)
            u, y = un.zeros((n - first, count), a.dtype), un.zeros((n - first, count), a.dtype)
            left_tau, right_tau = un.zeros(count, a.dtype), un.zeros(count, a.dtype)
            rest = table[first:, first:]
            own, indices = rest.local, un.arange(m - first)[rest.global_index[0]]
            for k in range(count):
                now = columns[k:, k] - v[k:, :k] @ y[k, :k].conj() - x[k:, :k] @ u[k, :k].conj()
                d[first + k], v[k:, k], left_tau[k] = larfg(now)
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
                y[k + 1 :, k] = product * left_tau[k]
                now = rows[k, k + 1 :] - y[k + 1 :, : k + 1].conj() @ v[k, : k + 1]
                now = now - u[k + 1 :, :k].conj() @ x[k, :k]
                e[first + k], u[k + 1 :, k], right_tau[k] = larfg(now.conj())
                one = u[k + 1 :, k].copy()
                part = products[first + k + 1 :]
                part.local = own[len(indices) - part.local.shape[0] :, k + 1 :] @ one
                product = everywhere(part)
                product = product - v[k + 1 :, : k + 1] @ (y[k + 1 :, : k + 1].conj().T @ one)
                product = product - x[k + 1 :, :k] @ (u[k + 1 :, :k].conj().T @ one)
                x[k + 1 :, k] = product * right_tau[k]
            left.append((first, left_tau))
            if first < n - 1:
                upper.append((first, right_tau[: n - 1 - first]))
            table[first:, first:end], right[first:, first:end] = v, u
            if end < n:
                rest = table[end:, end:]
                _blocks.update(rest, _subtract, v[count:], y[count:], x[count:], u[count:], rest.global_index[0])  # fmt: skip
    return table, left, right, upper, d, e


def _subtract(own, v, y, x, u, indices):
    return own - v[indices] @ y.conj().T - x[indices] @ u.conj().T
