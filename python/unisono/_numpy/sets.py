"""Distinct elements and sets of them: NumPy's set functions and the array API's ``unique_*``."""

import collections

import unisono

from .. import _engine
from .._arrays import fronts
from .._arrays.axes import arrays_together, as_array_beside, axis_index, flat
from .._arrays.axes import as_array as _as
from .._records import holds_records

# Up to so many tests of so many elements are compared one by one.
_few_tests, _many_elements = 16, 1024

UniqueAllResult = collections.namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = collections.namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = collections.namedtuple("UniqueInverseResult", "values inverse_indices")


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """Distinct elements, in rising order.

    Parameters
    ----------
    ar : array_like
    return_index, return_inverse, return_counts : bool
        Also where each occurs first, for each element the place of its value, how often each occurs.
    axis : int, optional
        Distinct slices along this axis, in lexicographic order, instead of elements.
    equal_nan : bool
        Whether all NaN are one value; of slices along an axis they never are.
    sorted : bool
        Accepted for compatibility; the values are always sorted.

    Returns
    -------
    ndarray, or a tuple of values and what was asked for

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> values, counts = un.unique([3, 1, 3], return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    ar = _as(ar)
    if holds_records((ar,)):
        from .._records.records import by_numpy

        return by_numpy("unique", ar, return_index, return_inverse, return_counts, axis)
    wanted = (return_index, return_inverse, return_counts)
    if axis is not None and not (ar.ndim == 1 and axis in (0, -1)):
        found = _unique_slices(ar, axis_index(axis, ar.ndim, "unique"))
    elif any(wanted):
        values, index, inverse, counts = fronts.unique(ar, True, bool(equal_nan))
        found = (values, index, inverse.reshape(ar.shape), counts)
    else:
        return fronts.unique(ar, False, bool(equal_nan))[0]
    made = (found[0], *(part for part, want in zip(found[1:], wanted, strict=True) if want))
    return made if len(made) > 1 else made[0]


def _unique_slices(x, axis):
    """Values, index, inverse and counts of the slices along `axis`; those with NaN are equal to no other."""
    rest = [k for k in range(x.ndim) if k != axis]
    rows = x.transpose((axis, *rest))
    n = rows.shape[0]
    table = rows.reshape((n, -1)) if rows.size else rows.reshape((n, 0))
    if table.shape[1] == 0 or n == 0:
        order = unisono.arange(n, device=x.device)
    else:
        from .sorting import complex_keys, lexsort

        columns = [table[:, k] for k in range(table.shape[1] - 1, -1, -1)]
        if x.dtype.kind == "c":
            columns = [key for column in columns for key in complex_keys(column)]
        order = lexsort(columns)
    ordered = table[order]
    first = unisono.ones(n, "bool", device=x.device)
    if n > 1:
        first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = unisono.nonzero(first)[0]
    index = order[starts]
    values = x.transpose((axis, *rest))[index]
    back = list(range(1, x.ndim))
    back.insert(axis, 0)
    ends = unisono.empty(starts.shape, "int64", device=x.device)
    ends[:-1] = starts[1:]
    if n:
        ends[-1:] = n
    run = _engine._scan("add", first, 0, None) - 1
    inverse = unisono.empty(n, "int64", device=x.device)
    inverse[order] = run
    return values.transpose(back), index, inverse, ends - starts


def unique_values(x):
    """Distinct elements of `x`; each NaN is a value of its own.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.unique_values([2, 1, 2]).tolist()
    [1, 2]
    """
    return unique(x, equal_nan=False)


def unique_counts(x):
    """Distinct elements and how often each occurs, as a named tuple.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    tuple of ndarray
        ``values`` and ``counts``.

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.unique_counts([2, 1, 2]).counts.tolist()
    [1, 2]
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    """Distinct elements and, in the shape of `x`, the place of each element's value.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    tuple of ndarray
        ``values`` and ``inverse_indices``.

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.unique_inverse([2, 1, 2]).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_all(x):
    """Distinct elements, where each occurs first, each element's place, and counts.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.unique_all([2, 1, 2]).counts.tolist()
    [1, 2]
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def _join(a, b):
    """Both arrays, flattened and joined."""
    a, b = flat(as_array_beside(a, b)), flat(as_array_beside(b, a))
    dtype = unisono.where(True, unisono.empty(1, a.dtype), unisono.empty(1, b.dtype)).dtype
    both = _engine._empty((a.size + b.size,), dtype, a.device)
    both[: a.size] = a
    both[a.size :] = b
    return both


def union1d(ar1, ar2):
    """Distinct elements that are in either array, sorted.

    Parameters
    ----------
    ar1, ar2 : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `ar1` or `ar2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.union1d([1, 3], [2, 3]).tolist()
    [1, 2, 3]
    """
    return unique(_join(ar1, ar2))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Distinct elements that are in both arrays, sorted.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Assume that the elements of each array are distinct.
    return_indices : bool
        Also where each occurs first in `ar1` and in `ar2`.

    Returns
    -------
    ndarray, or a tuple of it and two index arrays

    Raises
    ------
    TypeError
        If `ar1` or `ar2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.intersect1d([1, 3, 4], [4, 3, 3]).tolist()
    [3, 4]
    """
    ar1, ar2 = arrays_together(ar1, ar2)
    if assume_unique:
        ar1, ar2 = flat(ar1), flat(ar2)
    elif return_indices:
        ar1, first1 = unique(ar1, return_index=True)
        ar2, first2 = unique(ar2, return_index=True)
    else:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = _join(ar1, ar2)
    order = _engine._argsort(both, 0, False)
    both = both[order]
    twice = both[1:] == both[:-1]
    values = both[:-1][twice]
    if not return_indices:
        return values
    index1, index2 = order[:-1][twice], order[1:][twice] - ar1.size
    if not assume_unique:
        index1, index2 = first1[index1], first2[index2]
    return values, index1, index2


def setxor1d(ar1, ar2, assume_unique=False):
    """Elements that are in exactly one of the arrays, sorted.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Assume that the elements of each array are distinct.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `ar1` or `ar2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.setxor1d([1, 2], [2, 3]).tolist()
    [1, 3]
    """
    ar1, ar2 = arrays_together(ar1, ar2)
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = _engine._sort(_join(ar1, ar2), 0, False)
    if both.size == 0:
        return both
    change = unisono.ones(both.size + 1, "bool", device=both.device)
    change[1:-1] = both[1:] != both[:-1]
    return both[change[1:] & change[:-1]]


def setdiff1d(ar1, ar2, assume_unique=False):
    """Elements of `ar1` that are not in `ar2`; distinct and sorted unless `assume_unique`.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Assume that the elements of each array are distinct.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `ar1` or `ar2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.setdiff1d([3, 1, 2], [2]).tolist()
    [1, 3]
    """
    ar1, ar2 = arrays_together(ar1, ar2)
    ar1 = flat(ar1) if assume_unique else unique(ar1)
    return ar1[isin(ar1, ar2, invert=True)]


def _in_table(element, tests):
    """Whether each of many integers is among others of one dtype, by a table of their range; None where it is long."""
    if tests.dtype.kind not in "iu" or element.size < _many_elements:
        return None
    low, high = int(tests.min()), int(tests.max())
    if high - low >= 6 * (element.size + tests.size):  # as NumPy chooses
        return None

    def place(x):
        # Differences of narrow integers may not fit them; those of wide ones wrap outside of the range only.
        wide = x if x.dtype.itemsize == 8 else x.astype("int64")
        return (wide - low).astype("int64", copy=False)

    table = unisono.bincount(place(tests), minlength=high - low + 1) > 0
    known = unisono.take(table, place(element), mode="clip")
    return (element >= low) & (element <= high) & known


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """For each element whether it occurs in `test_elements`.

    Parameters
    ----------
    element, test_elements : array_like
    assume_unique : bool
        Accepted for compatibility; has no effect.
    invert : bool
        Invert the result.
    kind : {None, 'sort', 'table'}
        Accepted for compatibility.

    Returns
    -------
    ndarray of bool, in the shape of `element`

    Raises
    ------
    TypeError
        If `element` or `test_elements` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isin([1, 2, 3], [3, 1]).tolist()
    [True, False, True]
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"isin: kind must be None, 'sort' or 'table'; got {kind!r}")
    element, tests = (
        as_array_beside(element, test_elements),
        flat(as_array_beside(test_elements, element)),
    )
    if kind == "table" and not (element.dtype.kind in "biu" and tests.dtype.kind in "biu"):
        raise ValueError(
            "isin: the 'table' method is only for boolean or integer arrays; use kind='sort'"
        )
    if tests.size == 0:
        return unisono.full(element.shape, bool(invert), device=element.device)
    dtype = unisono.where(
        True, unisono.empty(1, element.dtype), unisono.empty(1, tests.dtype)
    ).dtype
    element = element.astype(dtype, copy=False)
    if tests.size <= _few_tests and element.size >= _many_elements:
        # One kernel that compares with each is cheaper than a search.
        found = element == tests[:1]
        for k in range(1, tests.size):
            found = found | (element == tests[k : k + 1])
        return ~found if invert else found
    tests = tests.astype(dtype, copy=False)
    found = _in_table(element, tests)
    if found is not None:
        return ~found if invert else found
    tests = unique(tests)
    place = _engine._search_sorted(tests, element, False)
    found = tests[unisono.minimum(place, tests.size - 1)] == element
    return ~found if invert else found


def in1d(x1, x2, assume_unique=False, invert=False, *, kind=None):
    """Whether each element of `x1`, flattened, occurs in `x2`; see `isin`.

    Parameters
    ----------
    x1, x2 : array_like
    assume_unique : bool
        Assume that the elements of each array are distinct.
    invert : bool
    kind : str, optional
        Accepted for compatibility; all kinds use one algorithm.

    Returns
    -------
    ndarray of bool, of one axis

    Raises
    ------
    TypeError
        If `x1` or `x2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.in1d([1, 2, 3], [2, 5]).tolist()
    [False, True, False]
    """
    return isin(flat(_as(x1)), x2, assume_unique, invert, kind=kind)
