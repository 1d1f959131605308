"""Singular vectors of a bidiagonal matrix that all ranks have: each rank makes its share of them.

LAPACK divides the matrix down to small ones and leaves what joins them again: rotations, an order, and the poles and roots of
a rational function, of which the vectors of a join are made (Gu and Eisenstat 1995). These are made by panels and multiplied
into the share, so that no rank holds all vectors.
"""

import unisono as un

from . import _lapack
from ._blocks import LETTERS
from ._checks import _epsilon, _linalg_error

# Vectors of a join that are made at a time: products of that depth run at full speed.
_panel = 256


class Divided:
    """Singular values, the largest first, in `values`; a matrix that has none is refused as having no `what`."""

    def __init__(self, d, e, what):
        if not (un.isfinite(d).all() and un.isfinite(e).all()):
            raise _linalg_error(f"{what} did not converge")
        size, least = un.maximum(abs(d).max(), abs(e).max()), _epsilon(d.dtype)
        d, e = (x / un.where(size == 0, 1, size) for x in (d, e))
        d = un.where(abs(d) < least, un.copysign(least, d), d)  # LAPACK divides by them
        lasda = getattr(_lapack, LETTERS[d.dtype.name] + "lasda")
        values, tree, (self._u, self._vt), factors, info = lasda(d, e)
        if info:
            raise _linalg_error(f"{what} did not converge")
        self._order = un.argsort(-values)
        self.values = values[self._order] * size
        self._joins = [_Join(k, tree, factors) for k in range(len(tree[0]))]

    def left_rows(self, share):
        """A range of the rows of the left singular vectors."""
        n, count = self.values.shape[0], share.stop - share.start
        x = un.eye(n, count, -share.start, dtype=self.values.dtype)  # becomes the rows' transpose
        for rows in self._leaves(0):
            x[rows] = self._u[: rows.stop - rows.start, rows] @ x[rows]
        for join in reversed(self._joins):
            # Of what is joined here, the other columns are zero still.
            columns = slice(*(min(max(k - share.start, 0), count) for k in (join.first, join.end)))
            if columns.stop > columns.start:
                x[join.first : join.end, columns] = join.left(x[join.first : join.end, columns])
        return x[self._order].T

    def right_columns(self, which):
        """Some of the right singular vectors."""
        x = (un.arange(self.values.shape[0])[:, None] == self._order[which]).astype(self._u.dtype)
        for join in self._joins:
            rows = slice(join.first, join.end + join.has_more)
            x[rows] = join.right(x[rows])
        for rows in self._leaves(1):
            x[rows] = self._vt[: rows.stop - rows.start, rows] @ x[rows]
        return x

    def _leaves(self, more):
        """Rows of the small matrices, which but for the last have `more` columns than rows."""
        for join in self._joins[len(self._joins) // 2 :]:
            yield slice(join.first, join.centre + more)
            yield slice(join.centre + 1, join.end + more * join.has_more)


class _Join:
    """The row between two bidiagonal matrices, and the singular vectors of both with that row."""

    def __init__(self, k, tree, factors):
        centre, before, behind = (x[k] for x in tree)
        counts, difl, difr, z, poles, givptr, givcol, perm, givnum, c, s = factors
        level = (k + 1).bit_length() - 1
        at = 3 * 2**level - 3 - k  # LAPACK counts backwards through a level
        self.first, self.centre, self.end = centre - before, centre, centre + behind + 1
        # But for the last of a level there is one column more than rows, which takes a rotation.
        self.has_more = k + 2 != 2 ** (level + 1)
        self._order = perm[level, self.first : self.end] - 1
        self._order[0] = before
        self._cosine, self._sine = c[at], s[at]
        one, two, used = 2 * level, 2 * level + 1, slice(self.first, self.first + int(givptr[at]))
        pairs = (givcol[two, used] - 1, givcol[one, used] - 1, givnum[two, used], givnum[one, used])
        self._rotations = list(zip(*(x.tolist() for x in pairs), strict=True))
        self._count = int(counts[at])
        used = slice(self.first, self.first + self._count)
        self._z, self._before, self._behind = z[level, used], difl[level, used], difr[one, used]
        self._norms, self._roots, self._poles = difr[two, used], poles[one, used], poles[two, used]

    def left(self, x):
        """The transposed left singular vectors times `x`."""
        x, count = x.copy(), self._count
        for one, other, c, s in self._rotations:
            _rotate(x, one, other, c, s)
        x = x[self._order]
        if count == 1:
            x[0] *= un.where(self._z[0] < 0, -1, 1)
            return x
        made = x.copy()
        for roots in self._panels():
            turn = self._quotients(roots, slice(0, count)) * self._poles
            turn[:, 0] = -1
            turn = turn / un.sqrt((turn**2).sum(axis=1, keepdims=True))
            made[roots] = turn @ x[:count]
        return made

    def right(self, x):
        """The right singular vectors times `x`."""
        count, n = self._count, self._order.shape[0]
        made = x.copy()
        if count > 1:
            for poles in self._panels():
                turn = self._quotients(slice(0, count), poles) / self._norms[:, None]
                made[poles] = turn.T @ x[:count]
        if self.has_more:
            _rotate(made, 0, n, self._cosine, self._sine)
        x = made.copy()
        x[self._order] = made[:n]
        for one, other, c, s in reversed(self._rotations):
            _rotate(x, one, other, c, -s)
        return x

    def _panels(self):
        return (slice(k, min(k + _panel, self._count)) for k in range(0, self._count, _panel))

    def _quotients(self, roots, poles):
        """z / (pole**2 - root**2) of each root and pole; the difference by way of the root's nearest poles, which keeps its digits."""
        pole, z = self._poles[poles], self._z[poles]
        root, before = self._roots[roots, None], self._poles[roots, None]
        behind = un.concatenate([self._poles[1:], self._poles[-1:]])[roots, None]
        places = un.arange(self._count)
        apart = un.where(
            places[poles] <= places[roots, None],
            pole - before - self._before[roots, None],
            pole - behind - self._behind[roots, None],
        )
        return un.where(z == 0, 0, z / apart / (pole + root))


def _rotate(x, one, other, c, s):
    first, second = x[one].copy(), x[other].copy()
    x[one], x[other] = c * first + s * second, c * second - s * first
