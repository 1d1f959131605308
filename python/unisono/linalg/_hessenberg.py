"""Eigenvalues and eigenvectors of one large matrix without symmetry, by its Hessenberg form.

Reflections make the matrix zero below the diagonal beside its own; those of a block of columns change the rest together
(LAPACK's dlahr2). Rows are dealt out to the ranks. All ranks get the Hessenberg matrix, and find the same rotations that make
it triangular (LAPACK's dlaqr0); each applies them to its own rows of the vectors, and finds some of the vectors of the
triangular matrix.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere
from ._checks import _linalg_error

# Columns whose reflections are applied together.
_width = 32


def eig(a, with_vectors=True):
    """Eigenvalues, and the vectors or None; complex where `a` is, or an eigenvalue of a real `a`."""
    n, mesh, letter = a.shape[0], a.mesh, LETTERS[a.dtype.name]
    if not un.isfinite(a).all():
        raise _linalg_error("eig: Array must not contain infs or NaNs")
    table, rows = _blocks.dealt(a)
    indices = table.global_index[0]
    scales, size = _balance(table)
    with un.device("cpu"):
        q = un.eye(n, dtype=a.dtype)[indices] if with_vectors else None
        table.local, q = _reduced(table, letter, q)
    whole = un.asarray(table, device="cpu")  # which counts it
    with un.device("cpu"):
        t, w, q, info = getattr(_lapack, letter + "laqr0")(un.triu(whole, -1), q)
        _check_alike(mesh, w, info)
        values = w * size
        if a.dtype.kind == "f" and not w.imag.any():
            values = values.real.copy()
        values = un.asarray(values, device=mesh)
    if not with_vectors:
        return values, None
    vectors = un.empty((n, n), a.dtype, mesh=mesh, layout=(("cyclic", rows), None))
    vectors.local = q
    vectors = vectors @ _of_triangle(t, w, letter, mesh)
    return values, _of_length_one(vectors, w, scales)


def _check_alike(mesh, w, info):
    """All ranks rotate alike, or their rows of the vectors do not belong together."""
    if info:
        raise _linalg_error("eig: Eigenvalues did not converge")
    found = un.empty((mesh.size, *w.shape), w.dtype, mesh=mesh)
    found.local = w[None]
    if not (everywhere(found) == w).all():
        raise _linalg_error("eig: the processors of the ranks round differently")


def _balance(table):
    """Scale rows and columns by powers of 2, so that their sums are of one size, and all of it so that no square overflows.

    Returns the scales of the columns, whose inverses are those of the rows, and that of the whole.
    """
    n, largest = table.shape[0], float(abs(table).max())
    size = 2.0 ** int(un.log2(largest)) if largest and not 1e-12 < largest < 1e12 else 1.0
    with un.device("cpu"):
        exponents = un.zeros(n)
        if size != 1:
            _blocks.update(table, lambda own: own / size)
        for _ in range(32):
            sizes = abs(table)
            across, down = everywhere(sizes.sum(axis=1)), everywhere(sizes.sum(axis=0))
            ratio = un.where((across > 0) & (down > 0), across, 1) / un.where(
                (across > 0) & (down > 0), down, 1
            )
            # Half of what would make one row and its column alike: the others move, too.
            step = un.rint(un.log2(ratio.astype("float64")) / 4)
            if not step.any():
                break
            exponents = exponents + step
            _blocks.update(table, _scaled, step, table.global_index[0])
    return 2.0**exponents, size


def _scaled(own, step, indices):
    return (own * (2.0**step)[None, :] * (2.0 ** -step[indices])[:, None]).astype(own.dtype)


def _reduced(table, letter, q):
    """This rank's rows of the Hessenberg matrix, and of `q` times all reflections."""
    n, dtype, layout = table.shape[0], table.dtype, table.layout
    own, indices = table.local.copy(), table.global_index[0]
    larfg = getattr(_lapack, letter + "larfg")
    product = un.empty(n, dtype, mesh=table.mesh, layout=layout[:1])
    for first in range(0, n - 2, _width):
        end = min(first + _width, n - 2)
        columns = un.empty((n, end - first), dtype, mesh=table.mesh, layout=layout)
        columns.local = own[:, first:end]
        panel = everywhere(columns)
        v, y = un.zeros(panel.shape, dtype), un.zeros(panel.shape, dtype)
        t = un.zeros((end - first, end - first), dtype)
        for k in range(end - first):
            j = first + k
            before, known = v[:, :k], t[:k, :k]
            now = panel[:, k] - y[:, :k] @ v[j, :k].conj()
            now = now - before @ (known.conj().T @ (before.conj().T @ now))
            beta, x, tau = larfg(now[j + 1 :])
            now[j + 1], now[j + 2 :] = beta, 0
            panel[:, k], v[j + 1 :, k] = now, x
            product.local = own[:, j + 1 :] @ x
            along = before[j + 1 :].conj().T @ x
            y[:, k] = tau * (everywhere(product) - y[:, :k] @ along)
            t[:k, k], t[k, k] = -tau * (known @ along), tau
        mine = v[indices]
        own[:, first:end] = panel[indices]
        rest = own[:, end:] - y[indices] @ v[end:].conj().T
        shared = _blocks.sum_of_ranks(table.mesh, mine.conj().T @ rest)
        own[:, end:] = rest - mine @ (t.conj().T @ shared)
        if q is not None:
            v = v[first + 1 :]
            q[:, first + 1 :] -= ((q[:, first + 1 :] @ v) @ t) @ v.conj().T
    return own, q


def _of_triangle(t, w, letter, mesh):
    """Vectors of the triangular matrix. Each rank finds some columns; the last ones take longest."""
    n, ranks = w.shape[0], mesh.size
    first_of_pair = (w.imag > 0).tolist() if letter in "sd" else [False] * n
    bounds = [round(n * (k / ranks) ** 0.5) for k in range(ranks + 1)]
    bounds = [b + (0 < b < n and first_of_pair[b - 1]) for b in bounds]
    sizes = tuple(b - a for a, b in zip(bounds, bounds[1:], strict=False))
    made = un.empty((n, n), t.dtype, mesh=mesh, layout=(None, sizes))
    begin, end = bounds[mesh.rank], bounds[mesh.rank + 1]
    with un.device("cpu"):
        made.local = getattr(_lapack, letter + "trevc")(t, begin, end)
    return made


def _of_length_one(vectors, w, scales):
    """The vectors of the matrix before it was balanced, as LAPACK gives them: the largest element is real."""
    mesh, n = vectors.mesh, w.shape[0]
    vectors = vectors.to_layout("block")
    with un.device("cpu"):
        own = vectors.local * scales[vectors.global_index[0]][:, None]
        own = own.astype(vectors.dtype)
        is_pair = vectors.dtype.kind == "f" and bool(w.imag.any())
        if is_pair:
            own = _complex(own, w)
        squares = (own.real**2 + own.imag**2) if own.dtype.kind == "c" else own**2
        own = own / un.sqrt(_blocks.sum_of_ranks(mesh, squares.sum(axis=0)))
        if own.dtype.kind == "c":
            own = own * _phases(own, mesh)
    made = un.empty((n, n), own.dtype, mesh=mesh, layout=vectors.layout)
    made.local = own
    return made


def _complex(own, w):
    """Of two columns of a pair of eigenvalues its two vectors: the real and the imaginary part."""
    column = un.arange(w.shape[0])
    second = (w.imag < 0).astype("int64")
    real = own[:, column - second]
    imaginary = own[:, un.minimum(column - second + 1, w.shape[0] - 1)]
    return real + 1j * (imaginary * un.sign(w.imag).astype(own.dtype))


def _phases(own, mesh):
    """For each column what makes its largest element real."""
    n = own.shape[1]
    largest = un.zeros((mesh.size, n), own.dtype, mesh=mesh)
    if own.shape[0]:
        place = un.argmax(own.real**2 + own.imag**2, axis=0)
        largest.local = own[place, un.arange(n)][None]
    found = everywhere(largest)
    found = found[un.argmax(abs(found), axis=0), un.arange(n)]
    return found.conj() / abs(found)
