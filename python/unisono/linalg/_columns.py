"""QR factors, singular values and eigenvectors of one large matrix, by blocks of columns: no rank holds the whole.

QR deals blocks of columns out to the ranks in turn. Of each step all ranks get the reflectors of one block, and each
applies them to its own columns.

Singular vectors, and eigenvectors of clusters, come of rotations of columns until all are orthogonal (Hestenes 1958). Each rank has two
blocks of columns, makes them orthogonal to each other and gives them on, so that in a sweep each block meets each other
once (Brent and Luk 1985). The matrices are triangular factors, which take few sweeps (Drmač and Veselić 2008).
"""

import math

import unisono as un

from .._runtime.parts import tell_all
from . import _blocks, _lapack, _tridiagonal
from ._blocks import LETTERS, everywhere
from ._checks import _epsilon, _linalg_error

# Five to ten are enough but for matrices of low rank, which take some more.
_most_sweeps = 60


def qr(a, is_complete=False):
    """(q, r); q is square where it is complete."""
    q, r = _reflected(a)
    width = a.shape[0] if is_complete else min(a.shape)
    return q(width), r(width)


def upper(a):
    """r of the QR factors."""
    return _reflected(a)[1](min(a.shape))


def _reflected(a):
    """Functions that make so many columns of q, and rows of r."""
    letter, block = LETTERS[a.dtype.name], _blocks.block_of(min(a.shape))
    geqrf = getattr(_lapack, letter + "geqrf")
    ormqr = getattr(_lapack, letter + ("ormqr" if letter in "sd" else "unmqr"))
    dealt, least = (None, ("cyclic", block)), min(a.shape)
    table = un.empty(a.shape, a.dtype, mesh=a.mesh, layout=dealt)
    table[...] = a
    steps = []

    def apply(own, trans, factors, tau):
        return ormqr("L", trans, factors, tau, own)[0]

    with un.device("cpu"):
        for first in range(0, least, block):
            end = min(first + block, least)
            factors, tau, _, _ = geqrf(everywhere(table[first:, first:end]))
            table[first:, first:end] = factors
            steps.append((first, end, tau))
            if end < a.shape[1]:
                _blocks.update(table[first:, end:], apply, "T" if letter in "sd" else "C", factors, tau)  # fmt: skip

    def q(width):
        made = un.empty((a.shape[0], width), a.dtype, mesh=a.mesh, layout=dealt)
        made[...] = _settled(un.eye(a.shape[0], width, dtype=a.dtype, device=a.mesh))
        with un.device("cpu"):
            for first, end, tau in reversed(steps):
                factors = everywhere(table[first:, first:end])
                _blocks.update(made[first:, first:], apply, "N", factors, tau)
        return made.to_layout("block")

    return q, lambda rows: _settled(un.triu(table[:rows].to_layout("block")))


def svd(a, is_full=False):
    """(u, s, vh); u and vh are square where they are full."""
    m, n = a.shape
    if m < n:
        u, s, vh = svd(a.T.conj(), is_full)
        return vh.T.conj(), s, u.T.conj()
    q, r = un.linalg.qr(a, mode="complete" if is_full else "reduced")
    # Of w that makes the columns of r.T.conj() @ w orthogonal, q @ w are left vectors, and these the right ones.
    with un.device(a.mesh):
        start = un.concatenate([r[:n].T.conj(), un.eye(n, dtype=a.dtype)])
    table = _orthogonal_columns(start, n)
    s = _norms_of(table[:n])
    order = un.argsort(-s)
    s, table = s[order], _settled(un.take(table, order, axis=1))
    v, is_null = table[:n], s <= n * _epsilon(a.dtype) * s[:1]
    v = _settled(v / un.where(s == 0, 1, s))
    if is_null.any():  # these have no direction, or one that rounding gave
        v, signs = qr(_settled(un.where(is_null, 0, v)))
        signs = un.where(un.diagonal(signs).real < 0, -1, 1)
        v = _settled(v.to_layout((None, "block")) * un.where(is_null, 1, signs).astype(s.dtype))
    u = q[:, :n] @ table[n:].to_layout("block")
    u = un.concatenate([u, q[:, n:]], axis=1) if is_full else u
    return u, s, v.T.conj()


def hermitian(a, is_upper):
    """The matrix whose one triangle is that of `a`."""
    half = _settled(un.triu(a, 1) if is_upper else un.tril(a, -1))
    is_diagonal = un.eye(a.shape[0], dtype=bool, device=a.mesh)
    return half + half.T.conj() + _settled(un.where(is_diagonal, a.real, 0))


def eigh(a, is_upper):
    """Eigenvalues in rising order, and the vectors; one triangle is read."""
    n, a = a.shape[0], hermitian(a, is_upper)
    if made := _tridiagonal.eigh(a):
        return made
    # The factor of the matrix moved so far that it is well conditioned has the same vectors.
    far = 2 * min(float(abs(a).sum(axis=1).max()), float(un.linalg.norm(a)))
    with un.device(a.mesh):
        moved = a + un.eye(n, dtype=a.dtype) * (far or 1)
    try:
        factor = _blocks.cholesky(moved)
    except un.linalg.LinAlgError as error:
        raise _linalg_error("eigh: Eigenvalues did not converge") from error
    v = _orthogonal_columns(factor, n, is_well_conditioned=True)
    v = _settled(v / _norms_of(v))
    rows = v.to_layout("block")
    w = (rows.conj() * (a @ rows)).real.sum(axis=0)
    order = un.argsort(w)
    return w[order], un.take(v, order, axis=1).to_layout("block")


def _settled(x):
    """`x` spread as its operands are, so that vectors beside columns stay where these are."""
    un.eval(x)
    return x


def _norms_of(x):
    return un.sqrt((abs(x) ** 2).sum(axis=0))


def _orthogonal_columns(x, rows, is_well_conditioned=False):
    """`x` times a unitary matrix, so that the columns of its first rows are orthogonal."""
    n, ranks = x.shape[1], x.mesh.size
    cuts = [n * k // (2 * ranks) for k in range(2 * ranks + 1)]
    order = list(range(2 * ranks))
    begins, table, limit = cuts, x, n * _epsilon(x.dtype)
    for _ in range(_most_sweeps):
        worst = 0.0
        for _ in range(2 * ranks - 1):
            # The longer columns go to the first of two blocks, whichever rank has them.
            pairs = [sorted((order[r], order[-1 - r])) for r in range(ranks)]
            table, begins = _side_by_side(table, begins, cuts, pairs)
            with un.device("cpu"):
                own = table.local
                cosine = _largest_cosine(own[:rows], limit)
                if limit < cosine < math.inf:
                    table.local = _turned(own, rows, is_well_conditioned)
            worst = max(worst, cosine)
            order = [order[0], order[-1], *order[1:-1]]
        worst = max(tell_all(x.mesh, worst, "angles between columns"))
        if worst <= limit:
            return table
        if worst == math.inf:
            break
    raise _linalg_error("svd: SVD did not converge")


def _side_by_side(table, begins, cuts, pairs):
    """The table with the blocks of each pair on one rank, and where each block begins."""
    widths = [end - begin for begin, end in zip(cuts, cuts[1:], strict=False)]
    sizes = tuple(widths[one] + widths[other] for one, other in pairs)
    made = un.empty(table.shape, table.dtype, mesh=table.mesh, layout=(None, sizes))
    found, at = {}, 0
    for block in (block for pair in pairs for block in pair):
        end = at + widths[block]
        made[:, at:end] = table[:, begins[block] : begins[block] + widths[block]]
        found[block], at = at, end
    return made, found


def _largest_cosine(columns, least):
    """Of the angles between columns; those shorter than `least` of the longest are what rounding left."""
    if columns.shape[1] < 2:
        return 0.0
    products = abs(columns.T.conj() @ columns)
    norms = un.sqrt(un.diagonal(products))
    norms = un.maximum(norms, least * norms.max())
    norms = un.where(norms == 0, 1, norms)
    cosines = products / norms / norms[:, None]
    un.fill_diagonal(cosines, 0)
    largest = float(cosines.max())
    return largest if math.isfinite(largest) else math.inf


def _turned(own, rows, is_well_conditioned):
    """A rank's columns times a unitary matrix, so that those of the first rows are orthogonal."""
    columns = own[:rows]
    if is_well_conditioned:
        turn = un.linalg.eigh(columns.T.conj() @ columns).eigenvectors[:, ::-1]
        return own @ turn
    q, r = un.linalg.qr(columns)
    u, s, vh = un.linalg.svd(r, full_matrices=False)
    return un.concatenate([(q @ u) * s, own[rows:] @ vh.T.conj()])
