"""Element-wise operations and reductions over whole arrays or patches.

Each rank computes its own blocks of the result. Operands that lie alike are read in place; of others the parts that
are needed are fetched, and nobody writes before all have read.
"""

from math import inf, prod

import numpy as np

import unisono as un

from .. import mpi
from ._handles import allocated, bounds, collective, extents, inside, synchronize


class Operand:
    """A patch of an array, possibly transposed, that an operation reads."""

    def __init__(self, g_a, lo=None, hi=None, transposed=False):
        self.array = allocated(g_a)
        self.lo, self.hi = bounds(self.array, lo, hi)
        inside(self.array, self.lo, self.hi)
        self.transposed = transposed
        self.shape = extents(self.lo, self.hi)
        if transposed:
            self.shape = self.shape[::-1]

    def lies_as(self, other):
        """Whether every element is where the other's is."""
        return (
            self.array.distribution.same_as(other.array.distribution)
            and self.array.group is other.array.group
            and (self.lo, self.hi) == (other.lo, other.hi)
            and not self.transposed
        )

    def part(self, lo, hi, shape):
        """The elements between lo and hi of a patch of that shape that starts at 0."""
        if self.shape == shape:
            if self.transposed:
                lo, hi = lo[::-1], hi[::-1]
            a = [x + o for x, o in zip(lo, self.lo, strict=True)]
            b = [x + o for x, o in zip(hi, self.lo, strict=True)]
            got = self.array.read(a, b)
            return got.T if self.transposed else got
        whole = self.array.read(self.lo, self.hi)
        if self.transposed:
            whole = whole.T.copy()
        cut = tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))
        return whole.reshape(tuple(shape))[cut]


def compute(function, result, *operands):
    """result = function(of this rank's parts of the result and the operands), on all ranks together."""
    for operand in operands:
        if prod(operand.shape) != prod(result.shape):
            raise ValueError(
                f"ga: patches differ in size; got {operand.shape} for a result of {result.shape}"
            )
        if operand.array.dtype != result.array.dtype:
            raise TypeError(
                f"ga: arrays differ in type; got {operand.array.dtype} for a result of {result.array.dtype}"
            )
    alike = all(operand.lies_as(result) for operand in operands)
    with collective(result.array):
        found = []
        for number, lo, hi in result.array.own(result.lo, result.hi):
            target = result.array.here(number, lo, hi)
            if alike:
                target[...] = function(*(o.array.here(number, lo, hi) for o in operands))
                continue
            a = [x - o for x, o in zip(lo, result.lo, strict=True)]
            b = [x - o for x, o in zip(hi, result.lo, strict=True)]
            value = function(*(o.part(a, b, result.shape) for o in operands))
            found.append((target, value.copy()))
        if not alike:
            synchronize(result.array.group)
            for target, value in found:
                target[...] = value


def update(function, g_a, lo, hi):
    """Each element of a patch = function(element)."""
    patch = Operand(g_a, lo, hi)
    compute(function, patch, patch)


def abs_value(g_a, lo=None, hi=None):
    """Absolute values, in place."""
    update(abs, g_a, lo, hi)


def add_constant(g_a, alpha, lo=None, hi=None):
    """Add a constant to each element."""
    alpha = allocated(g_a).convert(alpha)
    update(lambda a: a + alpha, g_a, lo, hi)


def scale(g_a, value, lo=None, hi=None):
    """Multiply each element by a constant."""
    value = allocated(g_a).convert(value)
    update(lambda a: a * value, g_a, lo, hi)


def fill(g_a, value, lo=None, hi=None):
    """Set each element to a value."""
    a = allocated(g_a)
    value = a.convert(value)
    lo, hi = bounds(a, lo, hi)
    inside(a, lo, hi)
    with collective(a):
        for number, first, last in a.own(lo, hi):
            a.here(number, first, last)[...] = value


def zero(g_a, lo=None, hi=None):
    """Set each element to zero."""
    a = allocated(g_a)
    if a.dtype.kind != "V":
        return fill(g_a, 0, lo, hi)
    lo, hi = bounds(a, lo, hi)
    with collective(a):
        for number, first, last in a.own(lo, hi):
            a.here(number, first, last)[...] = np.zeros((), a.dtype)


def recip(g_a, lo=None, hi=None):
    """Reciprocals, in place; of zero inf, in integers 0."""
    if allocated(g_a).dtype.kind in "iu":
        update(lambda a: un.where(abs(a) == 1, a, 0), g_a, lo, hi)
    else:
        update(lambda a: 1 / a, g_a, lo, hi)


def randomize(g_a, val=None):
    """Random values from 0 to `val`, excluded."""
    a = allocated(g_a)
    val = a.convert(1 if val is None else val)
    with collective(a):
        for number, lo, hi in a.own():
            seed = [a.group.ranks[a.rank], number, _next_seed()]
            values = un.random.default_rng(seed).random(tuple(extents(lo, hi)))
            a.here(number, lo, hi)[...] = (values * val).astype(a.dtype)


_seeds = [0]


def _next_seed():
    _seeds[0] += 1
    return _seeds[0]


def _binary(function, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi):
    compute(function, Operand(g_c, clo, chi), Operand(g_a, alo, ahi), Operand(g_b, blo, bhi))


def add(
    g_a,
    g_b,
    g_c,
    alpha=None,
    beta=None,
    alo=None,
    ahi=None,
    blo=None,
    bhi=None,
    clo=None,
    chi=None,
):
    """c = alpha * a + beta * b."""
    c = allocated(g_c)
    alpha = 1 if alpha is None else c.convert(alpha)
    beta = 1 if beta is None else c.convert(beta)

    def sum_of(a, b):
        return (a if alpha == 1 else alpha * a) + (b if beta == 1 else beta * b)

    _binary(sum_of, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi)


def elem_multiply(g_a, g_b, g_c, alo=None, ahi=None, blo=None, bhi=None, clo=None, chi=None):
    """c = a * b."""
    _binary(lambda a, b: a * b, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi)


def elem_divide(g_a, g_b, g_c, alo=None, ahi=None, blo=None, bhi=None, clo=None, chi=None):
    """c = a / b; by zero inf or nan, in integers (whose quotients are cut) 0."""

    def quotient(a, b):
        if allocated(g_c).dtype.kind not in "iu":
            return a / b
        q = un.where(b == 0, 0, abs(a) // un.where(b == 0, 1, abs(b)))
        return un.where((a < 0) != (b < 0), -q, q).astype(a.dtype)

    _binary(quotient, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi)


def elem_maximum(g_a, g_b, g_c, alo=None, ahi=None, blo=None, bhi=None, clo=None, chi=None):
    """c = max(a, b); of complex elements the larger modulus."""

    def larger(a, b):
        if allocated(g_c).dtype.kind == "c":
            a, b = abs(a), abs(b)
        return un.maximum(a, b)

    _binary(larger, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi)


def elem_minimum(g_a, g_b, g_c, alo=None, ahi=None, blo=None, bhi=None, clo=None, chi=None):
    """c = min(a, b); of complex elements the smaller modulus."""

    def smaller(a, b):
        if allocated(g_c).dtype.kind == "c":
            a, b = abs(a), abs(b)
        return un.minimum(a, b)

    _binary(smaller, g_a, g_b, g_c, alo, ahi, blo, bhi, clo, chi)


def median(
    g_a,
    g_b,
    g_c,
    g_m,
    alo=None,
    ahi=None,
    blo=None,
    bhi=None,
    clo=None,
    chi=None,
    mlo=None,
    mhi=None,
):
    """m = the middle one of a, b and c, element by element."""

    def middle(a, b, c):
        return un.maximum(un.minimum(a, b), un.minimum(un.maximum(a, b), c))

    operands = [Operand(g_a, alo, ahi), Operand(g_b, blo, bhi), Operand(g_c, clo, chi)]
    compute(middle, Operand(g_m, mlo, mhi), *operands)


def copy(g_a, g_b, alo=None, ahi=None, blo=None, bhi=None, trans=False):
    """b = a, or patches of as many elements; the patch of a may be transposed first."""
    if alo is None and ahi is None and blo is None and bhi is None:
        trans = False
    compute(lambda a: a, Operand(g_b, blo, bhi), Operand(g_a, alo, ahi, trans))


def transpose(g_a, g_b):
    """b = a transposed."""
    compute(lambda a: a, Operand(g_b), Operand(g_a, transposed=True))


def symmetrize(g_a):
    """a = (a + its transpose) / 2."""
    half = Operand(g_a)
    if half.shape != half.shape[::-1]:
        raise ValueError(f"symmetrize: the matrix is not square; got {half.shape}")
    compute(lambda a, b: (a + b) * 0.5, half, half, Operand(g_a, transposed=True))


# Reductions.


def dot(g_a, g_b, alo=None, ahi=None, blo=None, bhi=None, ta=False, tb=False):
    """Sum of a * b over all elements; patches may be transposed."""
    a = Operand(g_a, alo, ahi, ta and alo is not None)
    b = Operand(g_b, blo, bhi, tb and blo is not None)
    if prod(a.shape) != prod(b.shape):
        raise ValueError(f"dot: patches differ in size; got {a.shape} and {b.shape}")
    array, total = a.array, 0
    with collective(array):
        for number, lo, hi in array.own(a.lo, a.hi):
            mine = array.here(number, lo, hi)
            if b.lies_as(a) and not a.transposed:
                other = b.array.here(number, lo, hi)
            else:
                first = [x - o for x, o in zip(lo, a.lo, strict=True)]
                last = [x - o for x, o in zip(hi, a.lo, strict=True)]
                if a.transposed:
                    first, last = first[::-1], last[::-1]
                other = b.part(first, last, a.shape)
                if a.transposed:
                    other = other.T
            total = total + un.sum(mine * other).item()
    return array.comm.allreduce(total)


def select_elem(g_a, op):
    """The largest (``"max"``) or smallest (``"min"``) element, and its index; of equal ones the first."""
    op = op.decode() if isinstance(op, bytes) else op
    if op not in ("min", "max"):
        raise ValueError(f"select_elem: no such operator; got {op!r}; expected 'min' or 'max'")
    a, best = allocated(g_a), None
    sign = 1 if op == "min" else -1
    with collective(a):
        for number, lo, hi in a.own():
            part = a.here(number, lo, hi)
            keys = abs(part) if a.dtype.kind == "c" else part
            at = int(un.argmin(keys) if op == "min" else un.argmax(keys))
            place = np.unravel_index(at, tuple(extents(lo, hi)))
            index = tuple(int(i) + o for i, o in zip(place, lo, strict=True))
            key = keys[place].item()
            found = (sign * key if key == key else -inf, index, part[place].item())
            best = found if best is None else min(best, found)
    every = [found for found in a.comm.allgather(best) if found is not None]
    _, index, value = min(every, key=lambda found: found[:2])
    return value, np.array(index, dtype=np.int64)


def select_elem_min(g_a):
    """The smallest element, and its index."""
    return select_elem(g_a, "min")


def select_elem_max(g_a):
    """The largest element, and its index."""
    return select_elem(g_a, "max")


def _sums(g_a, axis):
    """Sums of absolute values along an axis of a matrix, or of a vector."""
    a = allocated(g_a)
    if a.ndim > 2:
        raise ValueError(f"norm: the array has {a.ndim} axes; expected a vector or a matrix")
    sums = np.zeros(a.dims[1 - axis] if a.ndim == 2 else 1)
    with collective(a):
        for number, lo, hi in a.own():
            part = abs(a.here(number, lo, hi))
            if a.ndim == 1:
                sums[0] += un.sum(part).item() if axis == 0 else 0
                continue
            sums[lo[1 - axis] : hi[1 - axis]] += np.asarray(un.sum(part, axis=axis))
    a.comm.Allreduce(mpi.IN_PLACE, sums)
    return sums


def norm1(g_a):
    """The largest sum of absolute values of a column; of a vector the sum."""
    return float(_sums(g_a, 0).max())


def norm_infinity(g_a):
    """The largest sum of absolute values of a row; of a vector the largest absolute value."""
    a = allocated(g_a)
    if a.ndim == 1:
        with collective(a):
            mine = [un.max(abs(a.here(*own))).item() for own in a.own()]
        return float(a.comm.allreduce(max(mine, default=0.0), mpi.MAX))
    return float(_sums(g_a, 1).max())


def step_max(g_a, g_b, alo=None, ahi=None, blo=None, bhi=None):
    """The largest s such that no element of a + s * b is negative; inf if there is none."""
    a, b = Operand(g_a, alo, ahi), Operand(g_b, blo, bhi)
    step = inf
    with collective(a.array):
        for number, lo, hi in a.array.own(a.lo, a.hi):
            first = [x - o for x, o in zip(lo, a.lo, strict=True)]
            last = [x - o for x, o in zip(hi, a.lo, strict=True)]
            x = a.array.here(number, lo, hi)
            y = b.part(first, last, a.shape)
            limit = un.where(y < 0, -x / un.where(y < 0, y, 1), inf)
            step = min(step, float(un.min(limit)))
    return a.array.comm.allreduce(step, mpi.MIN)


# Diagonals.


def _diagonal(a, number, lo, hi):
    """Of a block the first and last index on the diagonal, and a view of the matrix there (n, n)."""
    first, last = max(lo), min(hi)
    if first >= last:
        return None
    return first, last, a.here(number, [first, first], [last, last])


def _on_diagonal(g_a, function):
    """The diagonal = function(first, last, diagonal)."""
    a = allocated(g_a)
    if a.ndim != 2:
        raise ValueError(f"ga: a diagonal is of a matrix; got an array of {a.ndim} axes")
    with collective(a):
        for own in a.own():
            found = _diagonal(a, *own)
            if found is None:
                continue
            first, last, square = found
            flat = np.asarray(square)
            places = np.arange(last - first)
            flat[places, places] = np.asarray(function(first, last, flat[places, places]))


def add_diagonal(g_a, g_v):
    """Add a vector to the diagonal of a matrix."""
    v = allocated(g_v)
    _on_diagonal(g_a, lambda i, j, d: d + np.asarray(v.read([i], [j])))


def set_diagonal(g_a, g_v):
    """Set the diagonal of a matrix to a vector."""
    v = allocated(g_v)
    _on_diagonal(g_a, lambda i, j, d: v.read([i], [j]))


def shift_diagonal(g_a, value=None):
    """Add a constant to the diagonal of a matrix."""
    value = allocated(g_a).convert(1 if value is None else value)
    _on_diagonal(g_a, lambda i, j, d: d + value)


shift_diagoal = shift_diagonal  # ga4py's spelling


def zero_diagonal(g_a):
    """Set the diagonal of a matrix to zero."""
    _on_diagonal(g_a, lambda i, j, d: d * 0)


def get_diag(g_a, g_v):
    """Copy the diagonal of a matrix into a vector."""
    a, v = allocated(g_a), allocated(g_v)
    with collective(a):
        for own in a.own():
            found = _diagonal(a, *own)
            if found is not None:
                first, last, square = found
                v.write(un.diagonal(square).copy(), [first], [last])


def _scale_along(g_a, g_v, axis):
    a, v = allocated(g_a), allocated(g_v)
    with collective(a):
        for number, lo, hi in a.own():
            factors = v.read([lo[axis]], [hi[axis]])
            part = a.here(number, lo, hi)
            part[...] = part * (factors[:, None] if axis == 0 else factors)


def scale_rows(g_a, g_v):
    """Multiply each row of a matrix by an element of a vector."""
    _scale_along(g_a, g_v, 0)


def scale_cols(g_a, g_v):
    """Multiply each column of a matrix by an element of a vector."""
    _scale_along(g_a, g_v, 1)
