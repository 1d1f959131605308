"""Elements by conditions: which are taken, written or chosen among arrays."""

import unisono as un

from .. import _engine
from .._engine import _Array
from .._records import holds_records
from .axes import as_array_beside, as_array_within, store
from .diagonals import broadcast
from .indexing import _bounded, _cycled, _integers, _target, take
from .positions import nonzero
from .ufunc import is_python_number, promoted


def compress(condition, a, axis=None, out=None):
    """Slices of `a` along an axis where the condition is true.

    Parameters
    ----------
    condition : array_like of bool
    a : array_like
    axis : int, optional
        By default the array is flattened in row-major order.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

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
    >>> un.compress([True, False, True], [[1, 2, 3], [4, 5, 6]], axis=1).tolist()
    [[1, 3], [4, 6]]
    """
    condition, x = as_array_beside(condition, a), as_array_beside(a, condition)
    if condition.ndim != 1:
        raise ValueError(f"compress: the condition must have one axis; got {condition.ndim}")
    return take(x, nonzero(condition)[0], axis=axis, out=out)


def extract(condition, arr):
    """Elements of `arr` where the condition, of the same size, is not zero.

    Parameters
    ----------
    condition : array_like of bool
    arr : array_like

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    TypeError
        If `condition` or `arr` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.extract([True, False, True], [1, 2, 3]).tolist()
    [1, 3]
    """
    arr, condition = as_array_beside(arr, condition), as_array_beside(condition, arr)
    return take(arr.ravel(), nonzero(condition.ravel())[0])


def place(arr, mask, vals):
    """Set the elements under the mask to `vals`, one after another, which repeat.

    Parameters
    ----------
    arr : array_like
    mask : array_like of bool
    vals : array_like

    Returns
    -------
    None
        `arr` is changed.

    Raises
    ------
    ValueError
        If there are elements to fill and `vals` is empty.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.place(x, x > 1, [9])
    >>> x.tolist()
    [0, 1, 9, 9]
    """
    x = _target("place", arr)
    mask = _same_size("place", x, mask)
    values = _values("place", vals, x).ravel()
    count = _engine._count_nonzero(mask)
    if count and not values.size:
        raise ValueError("place: cannot insert from an empty array")
    x[mask] = _cycled(values, count) if count else values[:0]


def putmask(a, /, mask, values):
    """Set the elements under the mask to those of `values` at the same place, repeated to the size.

    Parameters
    ----------
    a : array_like
    mask : array_like of bool
    values : array_like

    Raises
    ------
    TypeError
        If `a`, `mask` or `values` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> a = un.arange(5)
    >>> un.putmask(a, a > 2, [10, 20])
    >>> a.tolist()
    [0, 1, 2, 20, 10]
    """
    x = _target("putmask", a)
    mask = _same_size("putmask", x, mask)
    values = _values("putmask", values, x)
    if values.size == 0 or x.size == 0:
        return
    if values.size != 1 and values.shape != x.shape:
        values = _cycled(values.ravel(), x.size).reshape(x.shape)
    copyto(x, values if values.size > 1 else values.reshape(()), where=mask)


def _values(what, values, x):
    """The values in the target's dtype: arrays where no value is lost, lists and numbers anyway."""
    if hasattr(values, "dtype") and not un.can_cast(values.dtype, x.dtype):
        raise TypeError(
            f"{what}: cannot cast values from {values.dtype} to {x.dtype} according to the rule 'safe'; "
            "convert with .astype"
        )
    return as_array_within(values, x)


def _same_size(what, x, mask):
    mask = as_array_beside(mask, x).astype("bool", copy=False)
    if mask.size != x.size:
        raise ValueError(
            f"{what}: mask and array must have the same size; got {mask.size} and {x.size}"
        )
    return mask.reshape(x.shape)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy values into `dst`, where the mask is true; both broadcast to its shape.

    Parameters
    ----------
    dst : ndarray
    src : array_like
    casting : str
        Which conversions are allowed.
    where : array_like of bool
        Elements to include.

    Raises
    ------
    TypeError
        If `dst`, `src` or `where` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> a = un.zeros(3)
    >>> un.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a.tolist()
    [1.0, 0.0, 3.0]
    """
    if not isinstance(dst, _Array):
        raise TypeError(f"copyto: dst must be an array of unisono; got {type(dst).__name__}")
    if holds_records((dst, src)):
        from .._records.records import by_numpy

        by_numpy("copyto", dst, src, casting, where)
        return
    if is_python_number(src):
        _check_rule("copyto", casting)
        if casting != "unsafe" and _kinds[_python_kinds[type(src)]] > _kinds[dst.dtype.kind]:
            raise TypeError(
                f"copyto: cannot cast from a Python {type(src).__name__} to {dst.dtype} by the rule '{casting}'"
            )
    else:
        src = as_array_beside(src, dst)
        check_cast("copyto", src.dtype, dst.dtype, casting)
        extra = src.ndim - dst.ndim
        if extra > 0 and all(n == 1 for n in src.shape[:extra]):
            src = src.reshape(src.shape[extra:])
    if where is True:
        dst[...] = src
        return
    where = as_array_beside(where, dst)
    if where.ndim == 0:  # its truth is taken, as by NumPy
        where = where != 0
    if where.dtype != "bool":
        raise TypeError(f"copyto: where= must be a mask of bools; got dtype {where.dtype}")
    _engine._assign_where(dst, where, src)


_castings = ("no", "equiv", "safe", "same_kind", "unsafe")


_python_kinds = {bool: "b", int: "u", float: "f", complex: "c"}


_kinds = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def _check_rule(what, casting):
    if casting not in _castings:
        raise ValueError(f"{what}: casting must be one of {', '.join(_castings)}; got {casting!r}")


def check_cast(what, source, target, casting):
    """Raise where NumPy's casting rule does not let `source` into `target`."""
    _check_rule(what, casting)
    if source == target or casting == "unsafe":
        return
    if casting == "safe":
        allowed = promoted(source, target) == target
    else:
        allowed = casting == "same_kind" and _kinds[source.kind] <= _kinds[target.kind]
    if not allowed:
        raise TypeError(f"{what}: cannot cast from {source} to {target} by the rule '{casting}'")


def choose(a, choices, out=None, mode="raise"):
    """Construct an array from an index array and a list of arrays to choose from.

    Parameters
    ----------
    a : array_like
    choices : sequence of array_like
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    mode : str

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `choices` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.choose([0, 1, 1], [[1, 2, 3], [10, 20, 30]]).tolist()
    [1, 20, 30]
    """
    which = _integers("choose", a, *choices)
    choices = [c if is_python_number(c) else as_array_beside(c, which) for c in choices]
    if not choices:
        raise ValueError("choose: needs at least one choice")
    n = len(choices)
    if mode == "raise":
        if ((which < 0) | (which >= n)).any():
            raise ValueError(
                f"choose: an index is out of range of {n} choices; use mode='wrap' or 'clip'"
            )
    else:
        which = _bounded("choose", which, n, mode)
    dtype = un.result_type(*choices)  # Python's numbers take the dtype of the arrays
    choices = [as_array_beside(c, which).astype(dtype, copy=False) for c in choices]
    which, *choices = broadcast([which, *choices])
    result = choices[-1]
    for k in range(n - 2, -1, -1):
        result = un.where(which == k, choices[k], result)
    if out is not None:
        result = result.astype(out.dtype, copy=False)  # of any kind, as NumPy
    return store("choose", result.copy() if n == 1 else result, out)


def select(condlist, choicelist, default=0):
    """For each element, the first choice whose condition is true, else the default.

    Parameters
    ----------
    condlist : sequence of array_like of bool
    choicelist : sequence of array_like
    default

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `condlist` or `choicelist` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(6)
    >>> un.select([x < 2, x > 3], [x, x * x], 42).tolist()
    [0, 1, 42, 42, 16, 25]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: as many conditions as choices are needed; got {len(condlist)} and {len(choicelist)}"
        )
    if len(condlist) == 0:
        raise ValueError("select: needs at least one condition")
    conditions = [as_array_beside(c, *condlist, *choicelist) for c in condlist]
    for k, c in enumerate(conditions):
        if c.dtype != "bool":
            raise TypeError(f"select: condition {k} must be bools; got dtype {c.dtype}")
    numbers = (bool, int, float, complex)
    choices = [
        c if type(c) in numbers else as_array_beside(c, *conditions) for c in (*choicelist, default)
    ]
    dtype = un.result_type(*choices)
    result = as_array_beside(choices.pop(), *conditions).astype(dtype, copy=False)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = un.where(condition, choice, result)
    return result
