"""Functions of NumPy for sets, orders and rows of numbers, which compiled code calls."""

from __future__ import annotations

import numpy as np

from .._numpy.convolution import _I0_LARGE, _I0_SMALL
from . import jit
from .numpy_elements import these_arguments


@jit
def setdiff1d(ar1, ar2):
    made = np.unique(ar1)
    return made[~np.isin(made, ar2)]


@jit
def union1d(ar1, ar2):
    return np.unique(np.concatenate((ar1.ravel(), ar2.ravel())))


@jit
def setxor1d(ar1, ar2):
    both = np.sort(np.concatenate((np.unique(ar1), np.unique(ar2))))
    n = len(both)
    there = np.empty(n, dtype=np.bool_)
    for i in range(n):
        there[i] = (i == 0 or both[i] != both[i - 1]) and (i == n - 1 or both[i] != both[i + 1])
    return both[there]


@jit
def intersect1d(ar1, ar2, assume_unique=False):
    both = np.sort(np.concatenate((np.unique(ar1), np.unique(ar2))))
    there = np.zeros(len(both), dtype=np.bool_)
    for i in range(len(both) - 1):
        there[i] = both[i] == both[i + 1]
    return both[there]


@jit
def lexsort(keys):
    """The last key counts most: the rows are sorted by one key after the other, stable."""
    order = np.argsort(keys[0], kind="stable")
    for key in keys[1:]:
        order = order[np.argsort(key[order], kind="stable")]
    return order


@jit
def _is_place(kth, n):
    if kth < -n or kth >= n:
        raise ValueError(f"kth(={kth}) out of bounds ({n})")


@jit
def partition(a, kth):
    """Sorted: one of the orders that a partition may have."""
    if not isinstance(kth, (int, np.integer)):
        return these_arguments()
    _is_place(kth, a.shape[-1])
    return np.sort(a)


@jit
def argpartition(a, kth):
    if not isinstance(kth, (int, np.integer)):
        return these_arguments()
    _is_place(kth, a.shape[-1])
    return np.argsort(a)


@jit
def trim_zeros(filt, trim="fb"):
    if not isinstance(filt, np.ndarray) or filt.ndim != 1:
        return these_arguments()
    begin = 0
    end = len(filt)
    if "f" in trim or "F" in trim:
        while begin < end and filt[begin] == 0:
            begin += 1
    if "b" in trim or "B" in trim:
        while end > begin and filt[end - 1] == 0:
            end -= 1
    return filt[begin:end]


@jit
def unwrap(p, period=2 * np.pi):
    if p.ndim != 1 or p.dtype.kind != "f" or not isinstance(period, float):
        return these_arguments()
    half = period / 2
    made = p.copy()
    moved = 0.0
    for i in range(1, len(p)):
        d = p[i] - p[i - 1]
        wrapped = np.mod(d + half, period) - half
        if wrapped == -half and d > 0:
            wrapped = half
        if np.abs(d) >= half:
            moved += wrapped - d
        made[i] = p[i] + moved
    return made


@jit
def gradient(f, spacing=1.0):
    if f.ndim != 1 or f.dtype.kind != "f" or not isinstance(spacing, (int, float)):
        return these_arguments()
    n = len(f)
    if n < 2:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    made = np.empty_like(f)
    made[1:-1] = (f[2:] - f[:-2]) / (2.0 * spacing)
    made[0] = (f[1] - f[0]) / spacing
    made[-1] = (f[-1] - f[-2]) / spacing
    return made


@jit
def cumulative_sum(x):
    if x.ndim != 1:
        return these_arguments()
    return np.cumsum(x)


@jit
def _window(M, a, b, c):
    """a + b * cos(pi n / (M - 1)) + c * cos(2 pi n / (M - 1)), n from 1 - M to M - 1 by 2."""
    if M < 1:
        return np.empty(0)
    if M == 1:
        return np.ones(1)
    n = np.arange(1.0 - M, M, 2.0)
    made = a + b * np.cos(np.pi * n / (M - 1))
    return made + c * np.cos(2.0 * np.pi * n / (M - 1)) if c != 0 else made


@jit
def hamming(M):
    return _window(M, 0.54, 0.46, 0.0)


@jit
def hanning(M):
    return _window(M, 0.5, 0.5, 0.0)


@jit
def blackman(M):
    return _window(M, 0.42, 0.5, 0.08)


@jit
def bartlett(M):
    if M < 1:
        return np.empty(0)
    if M == 1:
        return np.ones(1)
    n = np.arange(1.0 - M, M, 2.0)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


_BELOW_8 = np.array(_I0_SMALL)
_ABOVE_8 = np.array(_I0_LARGE)


@jit
def _chebyshev(x, coefficients):
    b0 = coefficients[0]
    b1 = 0.0
    b2 = 0.0
    for i in range(1, len(coefficients)):
        b2 = b1
        b1 = b0
        b0 = x * b1 - b2 + coefficients[i]
    return 0.5 * (b0 - b2)


@jit
def i0(x):
    if isinstance(x, np.ndarray):
        made = np.empty(x.shape, x.dtype if x.dtype.kind == "f" else np.float64)
        of_all, to = x.ravel(), made.reshape(-1)
        for i in range(x.size):
            to[i] = i0(float(of_all[i]))
        return made
    else:
        size = abs(float(x))
        if size <= 8.0:
            return np.exp(size) * _chebyshev(size / 2.0 - 2.0, _BELOW_8)
        return np.exp(size) * _chebyshev(32.0 / size - 2.0, _ABOVE_8) / np.sqrt(size)


@jit
def kaiser(M, beta):
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    n = np.arange(M).astype(np.float64)
    return i0(beta * np.sqrt(1 - ((n - half) / half) ** 2.0)) / i0(float(beta))


@jit
def roots(p):
    """Eigenvalues of the companion matrix; real where the coefficients are, as in Numba."""
    if not isinstance(p, np.ndarray) or p.ndim != 1 or p.dtype == np.float16:
        return these_arguments()
    c = p * 1.0
    first = 0
    end = len(c)
    while first < end and c[first] == 0:
        first += 1
    while end > first and c[end - 1] == 0:
        end -= 1
    n = max(end - first - 1, 0)
    made = np.zeros(n + (len(c) - end if end > first else 0), c.dtype)
    if n > 0:
        a = np.zeros((n, n), c.dtype)
        for i in range(n):
            a[0, i] = -c[first + 1 + i] / c[first]
            if i > 0:
                a[i, i - 1] = 1
        made[:n] = np.linalg.eigvals(a)
    return made


@jit
def _longer(a, n):
    made = np.zeros(n, dtype=a.dtype)
    made[n - len(a) :] = a
    return made


@jit
def polyadd(a1, a2):
    if not (isinstance(a1, np.ndarray) and isinstance(a2, np.ndarray)):
        return these_arguments()
    n = max(len(a1), len(a2))
    return _longer(a1, n) + _longer(a2, n)


@jit
def polysub(a1, a2):
    if not (isinstance(a1, np.ndarray) and isinstance(a2, np.ndarray)):
        return these_arguments()
    n = max(len(a1), len(a2))
    return _longer(a1, n) - _longer(a2, n)


@jit
def _without_zeros(a):
    """Coefficients from the first that is not zero; one zero where there is none."""
    short = np.trim_zeros(a, "f")
    return short if len(short) > 0 else np.zeros(1, dtype=a.dtype)


@jit
def polymul(a1, a2):
    if not (isinstance(a1, np.ndarray) and isinstance(a2, np.ndarray)):
        return these_arguments()
    return np.convolve(_without_zeros(a1), _without_zeros(a2))


implementations = {
    name: function
    for name, function in globals().items()
    if hasattr(function, "py_func") and not name.startswith("_")
}
