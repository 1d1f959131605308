"""Sorting, selecting and searching: NumPy's functions on the engine's keys, buckets and brackets."""

import operator

import unisono

from .. import _engine
from .._arrays.axes import as_array as _as
from .._arrays.axes import as_array_beside, axis_index, flat
from .._arrays.ufunc import is_python_number
from .._records import holds_records

_kinds = (
    "quicksort",
    "mergesort",
    "heapsort",
    "stable",
)  # known by their first letters, as NumPy's


def _check_kind(what, kind, order, stable):
    """Refuse what NumPy refuses; every kind is one algorithm here."""
    if order is not None:
        raise ValueError(
            f"{what}: cannot specify order when the array has no fields; got order={order!r}"
        )
    if kind is None:
        return
    if stable is not None:
        raise ValueError(f"{what}: kind and stable say the same; give only one of them")
    if not isinstance(kind, str):
        raise TypeError(f"{what}: sort kind must be a string; got {type(kind).__name__}")
    if kind[:1].lower() not in ("q", "m", "h", "s"):
        raise ValueError(f"{what}: sort kind must be one of {', '.join(_kinds)}; got {kind!r}")


def _along(x, axis, what):
    """The array and axis to work on; None flattens."""
    x = _as(x)
    if axis is None:
        return flat(x), 0
    return x, axis_index(axis, x.ndim, what)


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Sorted copy of an array.

    Parameters
    ----------
    a : array_like
    axis : int or None
        The axis along which to sort; None flattens the array first.
    kind : str, optional
        Accepted for compatibility; all kinds use one algorithm.
    order : str or list of str, optional
        Fields of an array of records, in the order in which they are compared.
    stable : bool, optional
        Accepted for compatibility; sorted values do not depend on it.
    descending : bool
        Sort in descending order (a keyword of the array API).

    Returns
    -------
    ndarray
        NaN is sorted to the end, in descending order to the beginning.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.sort([3, 1, 2]).tolist()
    [1, 2, 3]
    """
    a = _as(a)
    if holds_records((a,)):
        from .._records.records import by_numpy

        return by_numpy("sort", a, axis, kind, order, stable=stable)
    _check_kind("sort", kind, order, stable)
    a, axis = _along(a, axis, "sort")
    return _engine._sort(a, axis, bool(descending))


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Indices that would sort an array: always stable; see `sort` for the parameters.

    Parameters
    ----------
    a : array_like
    axis : int or None, optional
        The last by default; None flattens the array in row-major order.
    kind : str, optional
        Accepted for compatibility; all kinds use one algorithm.
    order : None or str
        Fields of an array of records to compare, as in `sort`.
    stable, descending : bool

    Returns
    -------
    ndarray of int64

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.argsort([3, 1, 2]).tolist()
    [1, 2, 0]
    """
    a = _as(a)
    if holds_records((a,)):
        from .._records.records import by_numpy

        return by_numpy("argsort", a, axis, kind, order, stable=stable)
    _check_kind("argsort", kind, order, stable)
    if a.ndim == 0 and axis in (-1, 0, None):
        return _engine._argsort(a.reshape(1), 0, False)
    a, axis = _along(a, axis, "argsort")
    return _engine._argsort(a, axis, bool(descending))


def sort_in_place(x, axis=-1, kind=None, order=None, *, stable=None):
    """Sort the array itself: the method ``sort``."""
    _check_kind("sort", kind, order, stable)
    x[...] = _engine._sort(x, axis_index(axis, x.ndim, "sort"), False)


def partition_in_place(x, kth, axis=-1, kind="introselect", order=None):
    """Partition the array itself: the method ``partition``."""
    x[...] = partition(x, kth, axis_index(axis, x.ndim, "partition"), kind, order)


def _partition(what, x, kth, axis, kind, order, indices):
    if not isinstance(kind, str):
        raise TypeError(f"{what}: select kind must be a string; got {type(kind).__name__}")
    if kind != "introselect":
        raise ValueError(f"{what}: select kind must be 'introselect'; got {kind!r}")
    _check_kind(what, None, order, None)
    x, axis = _along(x, axis, what)
    places = _as(kth)
    if places.dtype.kind not in "iu":
        raise TypeError(f"{what}: kth must be integers; got dtype {places.dtype}")
    if places.ndim > 1:
        raise ValueError(f"{what}: kth must be an integer or 1-d; got shape {places.shape}")
    n = x.shape[axis]
    places = places.reshape(places.size).tolist()
    if x.size and not all(-n <= k < n for k in places):
        raise ValueError(f"{what}: kth is out of bounds; got {kth}, expected less than {n}")
    if len(places) == 1 and n:
        return _engine._partition(x, axis, places[0] % n, indices)
    return _engine._argsort(x, axis, False) if indices else _engine._sort(x, axis, False)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """Copy whose element `kth` is where sorting would put it, smaller ones before it, larger ones behind.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of ints
    axis : int or None
    kind : 'introselect'
    order : None

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.partition([7, 1, 5, 3], 2)[2])
    5
    """
    a = _as(a)
    if holds_records((a,)):
        from .._records.records import by_numpy

        return by_numpy("partition", a, kth, axis, kind, order)
    return _partition("partition", a, kth, axis, kind, order, False)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Indices that would partition an array; see `partition`.

    Parameters
    ----------
    a : array_like
    kth : int
    axis : int or None, optional
        The last by default; None flattens the array in row-major order.
    kind : str, optional
        Accepted for compatibility; all kinds use one algorithm.
    order : None or str
        Fields of an array of records to compare, as in `sort`.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.argpartition([7, 1, 5, 3], 0)[0])
    1
    """
    return _partition("argpartition", a, kth, axis, kind, order, True)


def top_k(x, k, axis=-1, *, largest=True):
    """Values and indices of the `k` largest elements, the best first.

    Parameters
    ----------
    x : array_like
    k : int
    axis : int or None
        None flattens the array.
    largest : bool
        False gives the smallest.

    Returns
    -------
    values, indices : ndarray
        Extent `k` along `axis`. Of equal elements the first comes first; NaN counts as the largest.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> values, indices = un.top_k([3, 9, 4, 9], 2)
    >>> values.tolist(), indices.tolist()
    ([9, 9], [1, 3])
    """
    x, axis = _along(x, axis, "top_k")
    return _engine._top_k(x, axis, operator.index(k), bool(largest))


def lexsort(keys, axis=-1):
    """Indices that sort by several keys: the last key first, ties by the one before it, and so on.

    Parameters
    ----------
    keys : sequence of array_like of one shape, or an array whose rows are keys
    axis : int

    Returns
    -------
    ndarray of int64

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.lexsort(([9, 4, 0], [1, 5, 1])).tolist()
    [2, 0, 1]
    """
    keys = [_as(k) for k in keys]
    if not keys:
        raise TypeError("lexsort: need a sequence of keys with at least one key")
    shape = keys[0].shape
    if any(k.shape != shape for k in keys):
        raise ValueError(f"lexsort: all keys need one shape; got {[k.shape for k in keys]}")
    if not shape:
        return unisono.int64(0)
    axis = axis_index(axis, len(shape), "lexsort")
    order = None
    for key in keys:
        if order is None:
            order = _engine._argsort(key, axis, False)
        else:
            again = _engine._argsort(_take_lanes(key, order, axis), axis, False)
            order = _take_lanes(order, again, axis)
    return order


def complex_keys(x):
    """Keys for `lexsort` that give NumPy's order: finite first, then by real and imaginary part."""
    broken = unisono.isnan(x.real).astype("int8") * 2 + unisono.isnan(x.imag)
    return x.imag, x.real, broken


def _take_lanes(x, indices, axis):
    """Elements of each lane of `x` at the indices in the same lane."""
    if x.ndim == 1:
        return x[indices]
    return unisono.take_along_axis(x, indices, axis)


@_engine._FastPath
def searchsorted(a, v, side="left", sorter=None):
    """Indices at which elements must be inserted into a sorted array to keep it sorted.

    Parameters
    ----------
    a : array_like, 1-d, sorted
        It need not be sorted if `sorter` is given.
    v : array_like
    side : {'left', 'right'}
        Whether the index is before ('left') or after ('right') equal elements.
    sorter : array_like of int, 1-d, optional

    Returns
    -------
    ndarray of int64, in the shape of `v`

    Raises
    ------
    TypeError
        If `a` or `v` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.searchsorted([1, 2, 2, 5], [2, 3], side="right").tolist()
    [3, 3]
    """
    if side not in ("left", "right", "l", "r"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right'; got {side!r}")
    a = as_array_beside(a, v)
    if a.ndim != 1:
        raise ValueError(f"searchsorted: the sorted array must be 1-d; got shape {a.shape}")
    if sorter is not None:
        sorter = as_array_beside(sorter, a)
        if sorter.dtype.kind not in "iu":
            raise TypeError(f"searchsorted: sorter must be integers; got dtype {sorter.dtype}")
        if sorter.ndim != 1 or sorter.shape != a.shape:
            raise ValueError(f"searchsorted: sorter must have shape {a.shape}; got {sorter.shape}")
        if sorter.size and not 0 <= int(sorter.min()) <= int(sorter.max()) < a.size:
            raise ValueError(
                f"searchsorted: sorter holds an index out of range; expected 0 to {a.size - 1}"
            )
        a = a[sorter]
    a, v, _ = _together(a, v)
    found = _engine._search_sorted(a, v, side[0] == "r")
    return found if found.ndim else found[()]


def _together(x, v):
    """Both as arrays of their common dtype; a Python number adapts to `x`."""
    if is_python_number(v):
        dtype = (
            unisono.empty(1, x.dtype) if x.dtype.kind != "b" else unisono.where(True, x[:0], v)
        ).dtype
        try:
            dtype = unisono.where(True, unisono.empty(1, x.dtype), v).dtype
        except OverflowError:
            dtype = _as(v).dtype
    else:
        v = as_array_beside(v, x)
        dtype = unisono.where(True, unisono.empty(1, x.dtype), unisono.empty(1, v.dtype)).dtype
    return x.astype(dtype, copy=False), as_array_beside(v, x).astype(dtype, copy=False), dtype


def digitize(x, bins, right=False):
    """Indices of the bins to which elements belong; the bins increase or decrease monotonically.

    Parameters
    ----------
    x : array_like of real numbers
    bins : array_like, 1-d
    right : bool
        Whether the bins include their right edge instead of the left one.

    Returns
    -------
    ndarray of int64
        0 below the first edge, ``len(bins)`` beyond the last one.

    Raises
    ------
    TypeError
        If `x` or `bins` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0, 10.0]).tolist()
    [1, 4, 3]
    """
    x, bins = as_array_beside(x, bins), as_array_beside(bins, x)
    if "c" in (x.dtype.kind, bins.dtype.kind):
        raise TypeError("digitize: x and bins may not be complex")
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be 1-d; got shape {bins.shape}")
    side = "left" if right else "right"
    low, high = bins[:-1], bins[1:]
    if bool(((low <= high) | unisono.isnan(high)).all()):  # NaN is the largest, as in sorted arrays
        return searchsorted(bins, x, side)
    if bool(((low >= high) | unisono.isnan(low)).all()):
        return bins.size - searchsorted(bins[::-1], x, side)
    raise ValueError("digitize: bins must be monotonically increasing or decreasing")


def sort_complex(a):
    """Sorted copy, as complex numbers, by real, then by imaginary part.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.sort_complex([2, 1]).tolist()
    [(1+0j), (2+0j)]
    """
    made = sort(a)
    if made.dtype.kind == "c":
        return made
    small = made.dtype.itemsize <= 2 and made.dtype.kind in "iu"
    return made.astype("complex64" if small else "complex128")
