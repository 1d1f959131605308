"""Eigenvalues and singular values of one large matrix, by band matrices: no rank holds the whole.

Reflections of blocks of rows and columns leave a band, whose values are the matrix's (Bischof, Lang and Sun, "A framework
for symmetric band reduction", 2000). Rows are dealt out to the ranks; of each step all get one block's reflections and
their product with the rest. All ranks find the values of the band alike.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere
from ._checks import _linalg_error

# Of a band: products of that depth run well, and the work on the band, which grows with it, is little.
_width = 32


def eigenvalues(a):
    """Of a Hermitian matrix, both triangles of which are there; in rising order."""
    n, letter = a.shape[0], LETTERS[a.dtype.name]
    table, rows = _blocks.dealt(a)
    products = un.empty((n, _width), a.dtype, mesh=a.mesh, layout=(("cyclic", rows), None))
    with un.device("cpu"):
        band = un.zeros((n, _width + 1), a.dtype)
        for first in range(0, n, _width):
            end = min(first + _width, n)
            column = everywhere(table[first:, first:end])
            inside = end - first
            v, t, upper = _reflections(column[inside:], letter)
            column = un.concatenate([column[:inside], upper])
            for k in range(inside):
                below = column[k : k + _width + 1, k]
                band[first + k, : below.shape[0]] = below
            if end < n:
                rest, product = table[end:, end:], products[end:, : v.shape[1]]
                product.local = rest.local @ (v @ t)
                w = everywhere(product)
                w = w - 0.5 * (v @ (t.conj().T @ (v.conj().T @ w)))
                _blocks.update(rest, _blocks.subtract_both, v, w, rest.global_index[0])
        _want_numbers(band, "eigvalsh: Eigenvalues")
        solve = getattr(_lapack, letter + ("sbev" if letter in "sd" else "hbev"))
        found, _, info = solve(band.T, compute_v=0, lower=1)
    if info:
        raise _linalg_error("eigvalsh: Eigenvalues did not converge")
    return un.asarray(found, device=a.mesh)


def singular_values(a):
    """The largest first."""
    if a.shape[0] < a.shape[1]:
        a = a.T.conj()
    n, letter = a.shape[1], LETTERS[a.dtype.name]
    table, _ = _blocks.dealt(a)
    with un.device("cpu"):
        band = un.zeros((n, _width + 1), a.dtype)  # of the transposed matrix, which is lower
        for first in range(0, n, _width):
            end = min(first + _width, n)
            inside = end - first
            v, t, upper = _reflections(everywhere(table[first:, first:end]), letter)
            for k in range(inside):
                band[first + k, : inside - k] = upper[k, k:]
            if end == n:
                break
            rest = table[first:, end:]
            own = v[rest.global_index[0]]
            product = t.conj().T @ _blocks.sum_of_ranks(a.mesh, own.conj().T @ rest.local)
            _blocks.update(rest, _blocks.subtract_product, own, product)
            v, t, upper = _reflections(everywhere(rest[:inside]).conj().T, letter)
            for k in range(inside):
                left = upper[: k + 1, k].conj()
                band[first + k, inside - k :][: left.shape[0]] = left
            _blocks.update(table[end:, end:], _reflect_rows, v, t)
        _want_numbers(band, "svd: SVD")
        d, e, info = getattr(_lapack, letter + "gbbrd")(band.T, n, n, kl=_width)
        if not info:
            d, info = getattr(_lapack, _lapack.real_letter(letter) + "bdsqr")(d, e)
    if info:
        raise _linalg_error("svd: SVD did not converge")
    return un.asarray(d, device=a.mesh)


def _reflections(x, letter):
    """v, t and r of the QR factors of a block: the unitary one is the identity less v @ t @ v.conj().T."""
    factors, tau, _, _ = getattr(_lapack, letter + "geqrf")(x)
    count = min(x.shape)
    v = un.tril(factors[:, :count], -1) + un.eye(x.shape[0], count, dtype=x.dtype)
    return v, getattr(_lapack, letter + "larft")(v, tau), un.triu(factors[:count])


def _want_numbers(band, what):
    """LAPACK may not end with NaN; all ranks have the same band."""
    if not un.isfinite(band).all():
        raise _linalg_error(f"{what} did not converge")


def _reflect_rows(own, v, t):
    return own - ((own @ v) @ t) @ v.conj().T
