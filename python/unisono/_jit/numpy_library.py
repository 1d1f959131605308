"""Functions of NumPy that compiled code calls and that are written in Python themselves.

Each has NumPy's parameters as far as compiled code takes them; their results have NumPy's bits
where it computes element by element or in the same order.
"""

from __future__ import annotations

import numpy as np

from . import jit, numpy_elements, numpy_interp, numpy_splits
from .numpy_elements import these_arguments


@jit
def _diff_of_rows(a, n):
    made = a.copy()
    for _ in range(n):
        made = made[1:] - made[:-1]
    return made


@jit
def diff(a, n=1, axis=None):
    if axis is not None:
        if a.ndim != 2 or a.dtype.kind == "b":
            return these_arguments()
        if axis == 0 or axis == -2:
            return _diff_of_rows(a, n)
        if axis != 1 and axis != -1:
            raise ValueError(f"axis {axis} is out of bounds for array of dimension 2")
        return _diff_of_rows(a.T, n).T.copy()
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a.copy()
    made = a[..., 1:] - a[..., :-1]
    for _ in range(n - 1):
        made = made[..., 1:] - made[..., :-1]
    return made


@jit
def _beside(values, like):
    """Numbers that stand before or behind others, as an array of their dtype."""
    if values is None:
        return np.empty(0, like.dtype)
    else:
        return np.atleast_1d(values).ravel().astype(like.dtype)


@jit
def ediff1d(ary, to_end=None, to_begin=None):
    flat = ary.ravel()
    made = flat[1:] - flat[:-1]
    if to_end is None and to_begin is None:
        return made
    else:
        return np.concatenate((_beside(to_begin, made), made, _beside(to_end, made)))


@jit
def _is_new(a, i):
    """Whether a sorted element is not the one before; one NaN is as another."""
    return i == 0 or (a[i] != a[i - 1] and (a[i] == a[i] or a[i - 1] == a[i - 1]))


@jit
def unique(ar):
    a = np.sort(ar.ravel())
    n = len(a)
    count = 0
    for i in range(n):
        if _is_new(a, i):
            count += 1
    made = np.empty(count, dtype=a.dtype)
    k = 0
    for i in range(n):
        if _is_new(a, i):
            made[k] = a[i]
            k += 1
    return made


@jit
def _middle(a):
    """The median of sorted elements."""
    n = len(a)
    if n == 0 or np.isnan(a[n - 1]):
        return np.nan
    if n % 2 == 1:
        return a[n // 2] / 1.0
    return (a[n // 2 - 1] + a[n // 2]) / 2.0


@jit
def median(a):
    return _middle(np.sort(a.ravel() * 1.0))


@jit
def _quantile(a, q):
    """Of sorted elements, between neighbours as NumPy's linear method has it."""
    n = len(a)
    at = q * (n - 1)
    low = int(np.floor(at))
    high = min(low + 1, n - 1)
    t = at - low
    step = a[high] - a[low]
    if t >= 0.5:
        return a[high] - step * (1 - t)
    return a[low] + step * t


@jit
def quantile(a, q):
    if isinstance(q, (int, float)):
        if q < 0 or q > 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        return _quantile(np.sort(a.ravel() * 1.0), q)
    ordered = np.sort(a.ravel() * 1.0)
    made = np.empty(len(q))
    for i in range(len(q)):
        made[i] = _quantile(ordered, q[i])
    return made


@jit
def percentile(a, q):
    if isinstance(q, (int, float)):
        if q < 0 or q > 100:
            raise ValueError("Percentiles must be in the range [0, 100]")
        return _quantile(np.sort(a.ravel() * 1.0), q / 100)
    ordered = np.sort(a.ravel() * 1.0)
    made = np.empty(len(q))
    for i in range(len(q)):
        made[i] = _quantile(ordered, q[i] / 100)
    return made


@jit
def _found(a, v, is_right):
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) // 2
        before = a[middle] <= v if is_right else a[middle] < v
        if v != v:  # NaNs stand behind all numbers
            before = is_right or a[middle] == a[middle]
        if before:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def searchsorted(a, v, side="left"):
    is_right = side == "right"
    if not isinstance(v, np.ndarray):
        return _found(a, v, is_right)
    made = np.empty(v.shape, dtype=np.int64)
    flat = v.ravel()
    out = made.ravel()
    for i in range(len(flat)):
        out[i] = _found(a, flat[i], is_right)
    return out.reshape(v.shape)


@jit
def _order_of(bins):
    """1 where numbers rise, -1 where they fall, else 0; NaNs are compared as NumPy compares them here."""
    n = len(bins)
    i = 1
    while i < n and bins[i] == bins[0]:
        i += 1
    if i >= n:
        return 1
    rises = bins[0] < bins[i]
    for k in range(i + 1, n):
        if bins[k] < bins[k - 1] if rises else bins[k] > bins[k - 1]:
            return 0
    return 1 if rises else -1


@jit
def _bin_of(bins, v, rises, is_right):
    return _found(bins, v, is_right) if rises else len(bins) - _found(bins[::-1], v, is_right)


@jit
def digitize(x, bins, right=False):
    order = _order_of(bins)
    if order == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if not isinstance(x, np.ndarray):
        return _bin_of(bins, x, order > 0, not right)
    flat = x.ravel()
    made = np.empty(len(flat), dtype=np.int64)
    for i in range(len(flat)):
        made[i] = _bin_of(bins, flat[i], order > 0, not right)
    return made.reshape(x.shape)


@jit
def bincount(x, weights=None, minlength=0):
    most = -1
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(x[i]))
    n = max(most + 1, minlength)
    if weights is None:
        made = np.zeros(n, dtype=np.int64)
        for i in range(len(x)):
            made[x[i]] += 1
        return made
    else:
        sums = np.zeros(n)
        for i in range(len(x)):
            sums[x[i]] += weights[i]
        return sums


@jit
def isin(element, test_elements):
    if element.ndim != 1:
        return these_arguments()
    ordered = np.sort(test_elements.ravel())
    made = np.empty(len(element), dtype=np.bool_)
    for i in range(len(element)):
        k = _found(ordered, element[i], False)
        made[i] = k < len(ordered) and ordered[k] == element[i]
    return made


@jit
def argwhere(a):
    found = np.nonzero(a)
    made = np.empty((len(found[0]), len(found)), dtype=np.int64)
    for k in range(len(found)):
        for i in range(len(found[0])):
            made[i, k] = found[k][i]
    return made


@jit
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = a, b
    close = (np.abs(x - y) <= atol + rtol * np.abs(y)) & np.isfinite(y) | (x == y)
    if equal_nan:
        return close | ((x != x) & (y != y))
    return close


@jit
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


@jit
def array_equal(a1, a2, equal_nan=False):
    if a1.shape != a2.shape:
        return False
    if equal_nan:
        return bool(np.all((a1 == a2) | ((a1 != a1) & (a2 != a2))))
    return bool(np.all(a1 == a2))


@jit
def average(a, axis=None, weights=None):
    if axis is not None:
        return these_arguments()
    elif weights is None:
        return np.mean(a)
    elif a.ndim != weights.ndim:
        return these_arguments()
    else:
        if a.shape != weights.shape:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        total = np.sum(weights)
        if total == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        return np.sum(a * weights) / total


@jit
def nansum(a):
    if isinstance(a, np.ndarray) and a.dtype.kind in "biu":
        return np.sum(a)
    else:
        return np.sum(np.where(np.isnan(a), 0.0, a))


@jit
def nanmean(a):
    if isinstance(a, np.ndarray) and a.dtype.kind in "biu":
        return np.mean(a)
    else:
        there = ~np.isnan(a)
        s = np.sum(np.where(there, a, 0.0))
        mean = s / np.sum(there)
        if isinstance(s, np.float32):
            return np.float32(mean)
        else:
            return mean


@jit
def _without_items(a, name):
    if isinstance(a, np.ndarray) and a.size == 0:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


@jit
def nanmin(a):
    _without_items(a, "fmin")
    if isinstance(a, np.ndarray) and a.dtype.kind in "biu":
        return np.min(a)
    else:
        return np.min(np.where(np.isnan(a), np.inf, a)) if np.any(~np.isnan(a)) else np.nan


@jit
def nanmax(a):
    _without_items(a, "fmax")
    if isinstance(a, np.ndarray) and a.dtype.kind in "biu":
        return np.max(a)
    else:
        return np.max(np.where(np.isnan(a), -np.inf, a)) if np.any(~np.isnan(a)) else np.nan


@jit
def append(arr, values):
    if isinstance(values, np.ndarray):
        return np.concatenate((arr.ravel(), values.ravel()))
    made = np.empty(arr.size + 1, dtype=arr.dtype)
    made[:-1] = arr.ravel()
    made[arr.size] = values
    return made


@jit
def _delete_several(arr, obj):
    n = len(arr)
    kept = np.ones(n, dtype=np.bool_)
    if obj.dtype.kind == "b":
        if len(obj) != n:
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
            )
        for i in range(n):
            kept[i] = not obj[i]
    else:
        for k in obj:
            if k < -n or k >= n:
                raise IndexError(f"index {k} is out of bounds for axis 0 with size {n}")
            kept[k] = False
    return arr[kept]


@jit
def delete(arr, obj):
    if not isinstance(arr, np.ndarray):
        return delete(np.asarray(arr), obj)
    if arr.ndim != 1:
        return delete(arr.ravel(), obj)
    n = len(arr)
    if isinstance(obj, slice):
        kept = np.ones(n, dtype=np.bool_)
        kept[obj] = False
        return arr[kept]
    if isinstance(obj, (np.ndarray, list)):
        return _delete_several(arr, np.asarray(obj))
    k = obj + n if obj < 0 else obj
    if k < 0 or k >= n:
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {n}")
    made = np.empty(n - 1, dtype=arr.dtype)
    made[:k] = arr[:k]
    made[k:] = arr[k + 1 :]
    return made


@jit
def frombuffer(buffer, dtype=np.float64, count=-1, offset=0):
    octets = buffer.reshape(-1).view(np.uint8)[offset:]
    if count >= 0:
        octets = octets[: count * np.zeros(0, dtype).itemsize]
    return octets.view(dtype)


@jit
def in_fortran_order(a):
    return np.ascontiguousarray(a.T).T


@jit
def fortran_copy(a):
    return a.T.copy().T


@jit
def with_one_axis(x):
    if isinstance(x, np.ndarray):
        return x
    else:
        return np.full(1, x)


@jit
def with_two_axes(x):
    if not isinstance(x, np.ndarray):
        return np.full((1, 1), x)
    elif x.ndim == 1:
        return x[np.newaxis, :]
    else:
        return x


@jit
def tile(A, reps):
    if A.ndim != 1 or not isinstance(reps, (int, np.integer)):
        return these_arguments()
    n = len(A)
    made = np.empty(n * reps, dtype=A.dtype)
    for k in range(reps):
        made[k * n : (k + 1) * n] = A
    return made


@jit
def _cross_of_rows(a, b):
    if a.shape[1] != 3 or b.shape[1] != 3:
        raise ValueError("cross: rows have 3 elements in compiled functions")
    x, y, z = a[:, 0], a[:, 1], a[:, 2]
    u, v, w = b[:, 0], b[:, 1], b[:, 2]
    return np.column_stack((y * w - z * v, z * u - x * w, x * v - y * u))


@jit
def cross(a, b):
    if a.ndim == 2 and b.ndim == 2:
        return _cross_of_rows(a, b)
    if a.ndim != 1 or b.ndim != 1:
        return these_arguments()
    if len(a) == 2 and len(b) == 2:
        raise ValueError("cross: write a[0] * b[1] - a[1] * b[0] for vectors of two elements")
    if len(a) < 2 or len(a) > 3 or len(b) < 2 or len(b) > 3:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    made = np.empty(3, dtype=(a[:1] * b[:1]).dtype)
    if len(a) == 3 and len(b) == 3:
        made[0] = a[1] * b[2] - a[2] * b[1]
        made[1] = a[2] * b[0] - a[0] * b[2]
    elif len(a) == 3:
        made[0] = -(a[2] * b[1])
        made[1] = a[2] * b[0]
    else:
        made[0] = a[1] * b[2]
        made[1] = -(a[0] * b[2])
    made[2] = a[0] * b[1] - a[1] * b[0]
    return made


@jit
def kron(a, b):
    if a.ndim == 1 and b.ndim == 1:
        return (a.reshape((-1, 1)) * b).reshape(-1)
    if a.ndim == 1:
        return kron(a.reshape((1, -1)), b)
    if b.ndim == 1:
        return kron(a, b.reshape((1, -1)))
    if a.ndim != 2 or b.ndim != 2:
        return these_arguments()
    n, m = a.shape
    p, q = b.shape
    made = np.empty((n * p, m * q), dtype=(a[:1, :1] * b[:1, :1]).dtype)
    for i in range(n):
        for j in range(m):
            made[i * p : (i + 1) * p, j * q : (j + 1) * q] = a[i, j] * b
    return made


@jit
def trapezoid(y, x=None, dx=1.0):
    if y.ndim != 1:
        return these_arguments()
    if x is None:
        return np.sum(dx * (y[1:] + y[:-1]) / 2.0)
    else:
        return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2.0)


@jit
def polyval(p, x):
    y = x * 0
    for k in range(len(p)):
        y = y * x + p[k]
    return y


@jit
def convolve(a, v, mode="full"):
    if a.ndim != 1 or v.ndim != 1:
        return these_arguments()
    n = len(a)
    m = len(v)
    if n == 0 or m == 0:
        raise ValueError("an array of convolve is empty")
    made = np.zeros(n + m - 1, dtype=(a[:1] * v[:1]).dtype)
    for i in range(n):
        for j in range(m):
            made[i + j] += a[i] * v[j]
    short = min(n, m)
    if mode == "full":
        return made
    if mode == "same":
        return made[(short - 1) // 2 : (short - 1) // 2 + max(n, m)]
    if mode == "valid":
        return made[short - 1 : max(n, m)]
    raise ValueError(f"mode must be one of 'full', 'same' and 'valid'; got '{mode}'")


@jit
def correlate(a, v, mode="valid"):
    if a.ndim != 1 or v.ndim != 1 or a.dtype.kind == "c" or v.dtype.kind == "c":
        return these_arguments()
    if len(v) > len(a):  # NumPy turns the shorter one
        return np.convolve(v, a[::-1], mode)[::-1]
    return np.convolve(a, v[::-1], mode)


@jit
def fill_diagonal(a, val, wrap=False):
    if a.ndim != 2:
        return these_arguments()
    rows, columns = a.shape
    for i in range(min(rows, columns)):
        a[i, i] = val
    if wrap:  # past each row that is left out the diagonal starts again
        for i in range(columns + 1, rows):
            if i % (columns + 1) < columns:
                a[i, i % (columns + 1)] = val


@jit
def _variables(a, rowvar):
    """The variables as rows."""
    if a.ndim != 2:
        return a
    else:
        return a.copy() if rowvar else a.T.copy()


@jit
def corrcoef(x, y=None, rowvar=True):
    if y is None:
        if x.ndim != 2:
            return these_arguments()
        c = np.cov(_variables(x, rowvar))
    else:
        c = np.cov(np.vstack((_variables(x, rowvar), _variables(y, rowvar))))
    d = np.sqrt(np.diag(c))
    return c / d[:, None] / d[None, :]


implementations = {
    name: function
    for name, function in [
        *vars(numpy_elements).items(),
        *vars(numpy_interp).items(),
        *vars(numpy_splits).items(),
        *globals().items(),
    ]
    if hasattr(function, "py_func") and not name.startswith("_")
}
