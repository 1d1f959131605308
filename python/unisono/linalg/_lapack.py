"""Routines of LAPACK under their own names, in the manner of ``scipy.linalg.lapack``.

Each gives its results and last LAPACK's info: 0, or what went wrong. Pivots count from 0.
"""

from .. import _engine
from .._arrays.creation import zeros
from ._blas import _DTYPES, columns, vector


def _integers(n):
    """Room for LAPACK's integers, whose width is the library's."""
    return zeros(n, "int64" if _engine._blas()[2] else "int32")


def _value(info):
    return int(info[0])


def _right(b, t):
    """A right-hand side as columns, and whether it was a vector."""
    from .._numpy.products import _array

    b = _array(b)
    return (
        (columns(b[:, None], _DTYPES[t]), True) if b.ndim == 1 else (columns(b, _DTYPES[t]), False)
    )


def _back(y, was_vector):
    return y[0] if was_vector else y.T


def _getrf(t):
    def getrf(a, overwrite_a=0):
        """LU factors with row exchanges: (lu, piv, info)."""
        x = columns(a, _DTYPES[t])
        n, m = x.shape
        pivots, info = _integers(max(1, min(m, n))), _integers(1)
        _engine._fortran(t + "getrf", m, n, x, max(1, m), pivots, info)
        return x.T, pivots[: min(m, n)] - 1, _value(info)

    return getrf


def _getrs(t):
    def getrs(lu, piv, b, trans=0, overwrite_b=0):
        """x of ``op(a) @ x = b`` from the factors of getrf: (x, info)."""
        x, (y, was_vector) = columns(lu, _DTYPES[t]), _right(b, t)
        n, info = x.shape[0], _integers(1)
        pivots = _integers(max(1, n))
        pivots[:n] = piv + 1
        _engine._fortran(
            t + "getrs", "NTC"[trans], n, y.shape[0], x, max(1, n), pivots, y, max(1, n), info
        )
        return _back(y, was_vector), _value(info)

    return getrs


def _getri(t):
    def getri(lu, piv, overwrite_lu=0):
        """Inverse from the factors of getrf: (inv_a, info)."""
        x = columns(lu, _DTYPES[t])
        n, info = x.shape[0], _integers(1)
        pivots, work = _integers(max(1, n)), zeros(max(1, 64 * n), _DTYPES[t])
        pivots[:n] = piv + 1
        _engine._fortran(t + "getri", n, x, max(1, n), pivots, work, work.shape[0], info)
        return x.T, _value(info)

    return getri


def _gesv(t):
    def gesv(a, b, overwrite_a=0, overwrite_b=0):
        """x of ``a @ x = b``: (lu, piv, x, info)."""
        x, (y, was_vector) = columns(a, _DTYPES[t]), _right(b, t)
        n, info = x.shape[0], _integers(1)
        pivots = _integers(max(1, n))
        _engine._fortran(t + "gesv", n, y.shape[0], x, max(1, n), pivots, y, max(1, n), info)
        return x.T, pivots[:n] - 1, _back(y, was_vector), _value(info)

    return gesv


def _potrf(t):
    def potrf(a, lower=0, clean=1, overwrite_a=0):
        """Cholesky factor: (c, info). With `clean` the other triangle is zero."""
        x = columns(a, _DTYPES[t])
        n, info = x.shape[0], _integers(1)
        _engine._fortran(t + "potrf", "L" if lower else "U", n, x, max(1, n), info)
        if clean:
            for k in range(n - 1):
                if lower:
                    x[k + 1 :, k] = 0
                else:
                    x[k, k + 1 :] = 0
        return x.T, _value(info)

    return potrf


def _potrs(t):
    def potrs(c, b, lower=0, overwrite_b=0):
        """x of ``a @ x = b`` from the factor of potrf: (x, info)."""
        x, (y, was_vector) = columns(c, _DTYPES[t]), _right(b, t)
        n, info = x.shape[0], _integers(1)
        _engine._fortran(
            t + "potrs", "L" if lower else "U", n, y.shape[0], x, max(1, n), y, max(1, n), info
        )
        return _back(y, was_vector), _value(info)

    return potrs


def _geqrf(t):
    def geqrf(a, lwork=None, overwrite_a=0):
        """QR factors as reflectors: (qr, tau, work, info)."""
        x = columns(a, _DTYPES[t])
        n, m = x.shape
        tau, info = zeros(max(1, min(m, n)), _DTYPES[t]), _integers(1)
        work = zeros(max(1, 64 * n) if lwork is None else lwork, _DTYPES[t])
        _engine._fortran(t + "geqrf", m, n, x, max(1, m), tau, work, work.shape[0], info)
        return x.T, tau[: min(m, n)], work, _value(info)

    return geqrf


def _ormqr(t):
    def ormqr(side, trans, a, tau, c, lwork=None, overwrite_c=0):
        """Product with Q of the reflectors of geqrf: (cq, work, info)."""
        x, y = columns(a, _DTYPES[t]), columns(c, _DTYPES[t])
        n, m = y.shape
        work = zeros(max(1, 64 * (n if side == "L" else m)) if lwork is None else lwork, _DTYPES[t])
        info = _integers(1)
        _engine._fortran(
            t + _ormqr_name(t), side, trans, m, n, len(tau), x, max(1, x.shape[1]), tau, y, max(1, m), work,
            work.shape[0], info,
        )  # fmt: skip
        return y.T, work, _value(info)

    return ormqr


def _ormqr_name(t):
    return "ormqr" if t in "sd" else "unmqr"


def _syev(t):
    def syev(a, compute_v=1, lower=0, overwrite_a=0):
        """Eigenvalues and vectors of a symmetric matrix: (w, v, info)."""
        x = columns(a, _DTYPES[t])
        n, info = x.shape[0], _integers(1)
        w, work = zeros(max(1, n), _DTYPES[t]), zeros(max(1, 68 * n), _DTYPES[t])
        job, triangle = "V" if compute_v else "N", "L" if lower else "U"
        _engine._fortran(t + "syev", job, triangle, n, x, max(1, n), w, work, work.shape[0], info)
        return w[:n], x.T, _value(info)

    return syev


def _larft(t):
    def larft(v, tau):
        """t of the reflectors of geqrf, which together are the identity less v @ t @ v.conj().T."""
        x = columns(v, _DTYPES[t])
        k, n = x.shape
        made = zeros((k, k), _DTYPES[t])
        _engine._fortran(t + "larft", "F", "C", n, k, x, max(1, n), tau, made, max(1, k))
        return made.T

    return larft


def _larfg(t):
    def larfg(x):
        """Reflector that leaves the first element of a vector, which becomes real: (beta, v, tau)."""
        v, first, tau = vector(x, _DTYPES[t]), zeros(1, _DTYPES[t]), zeros(1, _DTYPES[t])
        first[0] = v[0]
        _engine._fortran(t + "larfg", v.shape[0], first, v[1:], 1, tau)
        v[0] = 1
        return first[0].real, v, tau[0]

    return larfg


def _pttrf(t):
    def pttrf(d, e):
        """Factors L @ diag(d) @ L.T of a positive definite tridiagonal matrix, `e` beside the diagonal of L: (d, e, info)."""
        n, info = d.shape[0], _integers(1)
        values, beside = vector(d, _DTYPES[t]), zeros(max(1, n - 1), _DTYPES[t])
        beside[: n - 1] = e
        _engine._fortran(t + "pttrf", n, values, beside, info)
        return values, beside[: n - 1], _value(info)

    return pttrf


def _sterf(t):
    def sterf(d, e):
        """Eigenvalues of a symmetric tridiagonal matrix, in rising order: (w, info)."""
        n, info = d.shape[0], _integers(1)
        values, beside = vector(d, _DTYPES[t]), zeros(max(1, n - 1), _DTYPES[t])
        beside[: n - 1] = e
        _engine._fortran(t + "sterf", n, values, beside, info)
        return values, _value(info)

    return sterf


def _lasda(t):
    def lasda(d, e):
        """Divide and conquer an upper bidiagonal matrix of more than 3 columns: (d, tree, (u, vt), factors, info).

        The tree's lists have the middle row of each matrix that is divided, and how many rows are before and behind it.
        """
        n, info = d.shape[0], _integers(1)
        leaf = max(3, min(25, n // 2))
        depth, count, tree = _integers(1), _integers(1), [_integers(n) for _ in range(3)]
        _engine._fortran(t + "lasdt", n, depth, count, *tree, leaf)
        levels, nodes = int(depth[0]), int(count[0])
        values, beside = vector(d, _DTYPES[t]), zeros(n, _DTYPES[t])
        beside[: n - 1] = e

        def numbers(rows):
            return zeros((rows, n), _DTYPES[t])

        u, vt, counts = numbers(leaf), numbers(leaf + 1), _integers(n)
        difl, difr, z, poles = (numbers(levels * k) for k in (1, 2, 1, 2))
        givptr, givcol, givnum = _integers(n), _integers((2 * levels, n)), numbers(2 * levels)
        perm, c, s = _integers((levels, n)), zeros(n, _DTYPES[t]), zeros(n, _DTYPES[t])
        work = zeros(6 * n + (leaf + 1) ** 2, _DTYPES[t])
        _engine._fortran(
            t + "lasda", 1, leaf, n, 0, values, beside, u, n, vt, counts, difl, difr, z, poles, givptr, givcol, n,
            perm, givnum, c, s, work, _integers(7 * n), info,
        )  # fmt: skip
        centres, befores, behinds = (x[:nodes].tolist() for x in tree)
        tree = [k - 1 for k in centres], befores, behinds
        factors = counts, difl, difr, z, poles, givptr, givcol, perm, givnum, c, s
        return values, tree, (u, vt), factors, _value(info)

    return lasda


def _bev(t):
    def bev(ab, compute_v=1, lower=0, overwrite_ab=0):
        """Eigenvalues and vectors of a symmetric or Hermitian band matrix: (w, z, info)."""
        x, real = columns(ab, _DTYPES[t]), _DTYPES[real_letter(t)]
        n, rows = x.shape
        w, info = zeros(max(1, n), real), _integers(1)
        z = zeros((n, n) if compute_v else (1, 1), _DTYPES[t])
        work = [zeros(max(1, 3 * n), real)]
        if t in "cz":
            work.insert(0, zeros(max(1, n), _DTYPES[t]))
        job, triangle = "V" if compute_v else "N", "L" if lower else "U"
        name = t + ("sbev" if t in "sd" else "hbev")
        _engine._fortran(name, job, triangle, n, rows - 1, x, rows, w, z, z.shape[0], *work, info)
        return w[:n], z.T, _value(info)

    return bev


def _gbbrd(t):
    def gbbrd(ab, m, n, kl=0, overwrite_ab=0):
        """Bidiagonal form of an m x n band matrix with `kl` diagonals below: (d, e, info)."""
        x, real = columns(ab, _DTYPES[t]), _DTYPES[real_letter(t)]
        rows, least = x.shape[1], min(m, n)
        d, e, info = zeros(max(1, least), real), zeros(max(1, least - 1), real), _integers(1)
        work, unused = zeros(2 * max(1, m, n), _DTYPES[t]), zeros(1, _DTYPES[t])
        more = [zeros(max(1, m, n), real)] if t in "cz" else []
        _engine._fortran(
            t + "gbbrd", "N", m, n, 0, kl, rows - 1 - kl, x, rows, d, e, unused, 1, unused.copy(), 1,
            unused.copy(), 1, work, *more, info,
        )  # fmt: skip
        return d[:least], e[: max(0, least - 1)], _value(info)

    return gbbrd


def _bdsqr(t):
    def bdsqr(d, e, lower=0):
        """Singular values of a bidiagonal matrix, the largest first: (d, info)."""
        n, info, unused = d.shape[0], _integers(1), zeros(1, _DTYPES[t])
        values, beside = zeros(max(1, n), _DTYPES[t]), zeros(max(1, n - 1), _DTYPES[t])
        values[:n], beside[: e.shape[0]] = d, e
        _engine._fortran(
            t + "bdsqr", "L" if lower else "U", n, 0, 0, 0, values, beside, unused, 1, unused.copy(), 1,
            unused.copy(), 1, zeros(max(1, 4 * n), _DTYPES[t]), info,
        )  # fmt: skip
        return values[:n], _value(info)

    return bdsqr


def _laqr0(t):
    def laqr0(h, z=None):
        """Eigenvalues of a Hessenberg matrix, and with rows `z` its triangular form and these, rotated: (t, w, z, info)."""
        x, n = columns(h, _DTYPES[t]), h.shape[0]
        rows = 0 if z is None else z.shape[0]
        y = zeros((n, 1), _DTYPES[t]) if not rows else columns(z, _DTYPES[t])
        parts = [zeros(max(1, n), _DTYPES[t]) for _ in range(2 if t in "sd" else 1)]
        work, info, with_z = zeros(1, _DTYPES[t]), _integers(1), int(z is not None)
        for room in (-1, 0):  # the first call tells how much memory it wants
            if room == 0:
                room = max(1, n, int(work[0].real))
                work = zeros(room, _DTYPES[t])
            _engine._fortran(
                t + "laqr0", with_z, int(rows > 0), n, 1, n, x, max(1, n), *parts, 1, max(1, rows), y, y.shape[1],
                work, room, info,
            )  # fmt: skip
        w = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        return x.T, w, y.T[:rows], _value(info)

    return laqr0


def _trevc(t):
    def trevc(a, begin, end):
        """Right eigenvectors of a triangular matrix, or of Schur's form of a real one, for these eigenvalues."""
        x, n = columns(a, _DTYPES[t]), a.shape[0]
        chosen, made = _integers(max(1, n)), zeros((max(1, end - begin), n), _DTYPES[t])
        chosen[begin:end] = 1
        more = [zeros(max(1, n), _DTYPES[real_letter(t)])] if t in "cz" else []
        _engine._fortran(
            t + "trevc", "R", "S", chosen, n, x, max(1, n), zeros(1, _DTYPES[t]), 1, made, max(1, n),
            made.shape[0], _integers(1), zeros(max(1, 3 * n), _DTYPES[t]), *more, _integers(1),
        )  # fmt: skip
        return made[: end - begin].T

    return trevc


def real_letter(t):
    """Of the routines for the real numbers that complex ones are made of."""
    return {"c": "s", "z": "d"}.get(t, t)


def _all():
    made = {}
    for t in "sdcz":
        for stem, make in (
            ("getrf", _getrf), ("getrs", _getrs), ("getri", _getri), ("gesv", _gesv), ("potrf", _potrf),
            ("potrs", _potrs), ("geqrf", _geqrf), ("larft", _larft), ("larfg", _larfg), ("gbbrd", _gbbrd),
            ("laqr0", _laqr0), ("trevc", _trevc),
        ):  # fmt: skip
            made[t + stem] = make(t)
    for t in "sd":
        for stem, make in (
            ("syev", _syev), ("bdsqr", _bdsqr), ("pttrf", _pttrf), ("sterf", _sterf), ("lasda", _lasda),
        ):  # fmt: skip
            made[t + stem] = make(t)
    for t in "sdcz":
        made[t + _ormqr_name(t)] = _ormqr(t)
        made[t + ("sbev" if t in "sd" else "hbev")] = _bev(t)
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
    return made


globals().update(_all())
