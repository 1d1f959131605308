"""Functions of NumPy for grids, triangles and elements by index, which compiled code calls."""

from __future__ import annotations

import numpy as np

from . import jit
from .numpy_elements import these_arguments


@jit
def tri(N, M=None, k=0, dtype=np.float64):
    columns = N if M is None else M
    made = np.zeros((N, columns), dtype=dtype)
    for i in range(N):
        for j in range(min(max(i + k + 1, 0), columns)):
            made[i, j] = 1
    return made


@jit
def _places(n, m, k, is_lower):
    """Rows and columns of the elements below a diagonal, or above it, row by row."""
    count = 0
    for i in range(n):
        below = min(max(i + k + 1 if is_lower else i + k, 0), m)
        count += below if is_lower else m - below
    rows = np.empty(count, dtype=np.int64)
    columns = np.empty(count, dtype=np.int64)
    at = 0
    for i in range(n):
        below = min(max(i + k + 1 if is_lower else i + k, 0), m)
        for j in range(0 if is_lower else below, below if is_lower else m):
            rows[at] = i
            columns[at] = j
            at += 1
    return rows, columns


@jit
def tril_indices(n, k=0, m=None):
    return _places(n, n if m is None else m, k, True)


@jit
def triu_indices(n, k=0, m=None):
    return _places(n, n if m is None else m, k, False)


@jit
def _is_matrix(arr):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")


@jit
def tril_indices_from(arr, k=0):
    _is_matrix(arr)
    return _places(arr.shape[0], arr.shape[1], k, True)


@jit
def triu_indices_from(arr, k=0):
    _is_matrix(arr)
    return _places(arr.shape[0], arr.shape[1], k, False)


@jit
def vander(x, N=None, increasing=False):
    if x.ndim != 1 or x.dtype.kind not in "if" or x.dtype.itemsize != 8:
        return these_arguments()
    n = len(x) if N is None else N
    made = np.empty((len(x), n), dtype=x.dtype)
    for i in range(len(x)):
        power = x[i] ** 0
        for j in range(n):
            made[i, j if increasing else n - 1 - j] = power
            power = power * x[i]
    return made


@jit
def meshgrid(x, y, indexing="xy"):
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)) or x.ndim != 1 or y.ndim != 1:
        return these_arguments()
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(x)
    m = len(y)
    is_xy = indexing == "xy"
    shape = (m, n) if is_xy else (n, m)
    first = np.empty(shape, dtype=x.dtype)
    second = np.empty(shape, dtype=y.dtype)
    if is_xy:
        first[:] = x
        second[:] = y[:, None]
    else:
        first[:] = x[:, None]
        second[:] = y
    return first, second


@jit
def take_along_axis(arr, indices, axis=-1):
    if arr.ndim != 2 or indices.ndim != 2 or axis is None:
        return these_arguments()
    is_down = axis == 0 or axis == -2
    across = arr.shape[1] if is_down else arr.shape[0]
    given = indices.shape[1] if is_down else indices.shape[0]
    if given != across and given != 1:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    shape = (indices.shape[0], across) if is_down else (across, indices.shape[1])
    made = np.empty(shape, dtype=arr.dtype)
    for i in range(shape[0]):
        for j in range(shape[1]):
            if is_down:
                made[i, j] = arr[indices[i, j if given > 1 else 0], j]
            else:
                made[i, j] = arr[i, indices[i if given > 1 else 0, j]]
    return made


@jit
def resize(a, new_shape):
    made = np.empty(new_shape, dtype=a.dtype)
    flat = made.reshape(-1)
    given = a.ravel()
    n = len(given)
    for i in range(len(flat)):
        if n > 0:
            flat[i] = given[i % n]
        else:
            flat[i] = 0
    return made


@jit
def copyto(dst, src):
    dst[...] = src


@jit
def compress(condition, a):
    if a.ndim != 1 or not isinstance(condition, np.ndarray) or condition.dtype.kind != "b":
        return these_arguments()
    return a[: len(condition)][condition]


@jit
def select(condlist, choicelist, default=0):
    n = len(condlist)
    if n != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    made = np.where(condlist[0], choicelist[0], default)
    taken = condlist[0].copy()
    for here, choice in zip(condlist[1:], choicelist[1:], strict=False):
        made = np.where(here & ~taken, choice, made)
        taken = taken | here
    return made


@jit
def insert(arr, obj, values):
    if arr.ndim != 1 or not isinstance(obj, (int, np.integer)) or isinstance(values, np.ndarray):
        return these_arguments()
    n = len(arr)
    k = obj + n if obj < 0 else obj
    if k < 0 or k > n:
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {n}")
    made = np.empty(n + 1, dtype=arr.dtype)
    made[:k] = arr[:k]
    made[k] = values
    made[k + 1 :] = arr[k:]
    return made


@jit
def sinc(x):
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return these_arguments()
    y = np.pi * x
    eps = np.finfo(x.dtype).eps
    y = np.where(y == 0, eps, y)
    return np.sin(y) / y


@jit
def extract(condition, arr):
    if condition.size == arr.size:
        return arr.ravel()[condition.ravel() != 0]
    return arr.ravel()[np.nonzero(condition.ravel())[0]]


@jit
def diag_indices_from(arr):
    if arr.ndim != 2:
        return these_arguments()
    if arr.shape[0] != arr.shape[1]:
        raise ValueError("All dimensions of input must be of equal length")
    return np.arange(len(arr)), np.arange(len(arr))


@jit
def logspace(start, stop, num=50):
    return 10.0 ** np.linspace(start, stop, num)


@jit
def geomspace(start, stop, num=50):
    if isinstance(start, (np.ndarray, complex, np.complex64)):
        return these_arguments()
    if isinstance(stop, (np.ndarray, complex, np.complex64)):
        return these_arguments()
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = -1.0 if start < 0 else 1.0
    low = np.log10(float(start) * sign)
    high = np.log10(float(stop) * sign)
    made = 10.0 ** np.linspace(low, high, num)
    if num > 0:
        made[0] = start * sign
    if num > 1:
        made[-1] = stop * sign
    return made * sign


@jit
def _outside(index, n):
    if index < 0 or index >= n:
        raise ValueError(f"index {index} is out of bounds for array with size {n}")


@jit
def indices(dimensions, dtype=np.int64):
    axes = len(dimensions)
    made = np.empty((axes, *dimensions), dtype=dtype)
    for k in range(axes):
        inner = 1
        for j in range(k + 1, axes):
            inner *= dimensions[j]
        flat = made[k].reshape(-1)
        for i in range(flat.size):
            flat[i] = i // inner % dimensions[k]
    return made


@jit
def ravel_multi_index(multi_index, dims):
    """Of numbers."""
    if len(multi_index) != len(dims):
        raise ValueError("parameter multi_index must be a sequence of length of dims")
    place = 0
    for k in range(len(dims)):
        if not isinstance(multi_index[k], (int, np.integer)):
            return these_arguments()
        if multi_index[k] < 0 or multi_index[k] >= dims[k]:
            raise ValueError("invalid entry in coordinates array")
        place = place * dims[k] + multi_index[k]
    return place


@jit
def unravel_index(indices, shape):
    if not isinstance(indices, (int, np.integer)):
        return these_arguments()
    if isinstance(shape, int):
        _outside(indices, shape)
        return (indices,)
    elif len(shape) == 1:
        _outside(indices, shape[0])
        return (indices,)
    elif len(shape) == 2:
        _outside(indices, shape[0] * shape[1])
        return indices // shape[1], indices % shape[1]
    elif len(shape) == 3:
        _outside(indices, shape[0] * shape[1] * shape[2])
        row = indices // shape[2]
        return row // shape[1], row % shape[1], indices % shape[2]
    else:
        return these_arguments()


@jit
def diagflat(v, k=0):
    if not isinstance(v, np.ndarray):
        return these_arguments()
    n = v.size + abs(k)
    made = np.zeros((n, n), v.dtype)
    flat = v.ravel()
    for i in range(v.size):
        made[i - min(k, 0), i + max(k, 0)] = flat[i]
    return made


implementations = {
    name: function
    for name, function in globals().items()
    if hasattr(function, "py_func") and not name.startswith("_")
}
