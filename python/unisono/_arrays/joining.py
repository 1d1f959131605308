"""Joining arrays along axes, old and new."""

import warnings

import unisono as un

from .. import _engine
from .._records import holds_records
from .axes import as_array, as_array_beside, axis_index, items_together
from .overrides import computes_functions
from .selection import check_cast


def _joined(what, arrays, axis, out=None, dtype=None, casting="same_kind"):
    """Concatenate arrays that have axes, by NumPy's rules for out, dtype and casting."""
    if holds_records(arrays):
        from .._records.records import by_numpy

        return by_numpy("concatenate", arrays, axis, out, dtype=dtype, casting=casting)
    if what != "concatenate" and any(computes_functions(type(x)) for x in arrays):
        return un.concatenate(arrays, axis, out, dtype=dtype, casting=casting)  # which classes see
    if out is not None and dtype is not None:
        raise TypeError(f"{what}: takes only one of out= and dtype=; got both")
    if not arrays:
        raise ValueError(f"{what}: needs at least one array")
    if arrays[0].ndim == 0:
        raise ValueError(
            f"{what}: arrays of rank 0 cannot be joined; give them an axis, or use stack"
        )
    axis = axis_index(axis, arrays[0].ndim, what)
    target = un.empty((), dtype).dtype if dtype is not None else None if out is None else out.dtype
    if target is not None:
        for x in arrays:
            check_cast(what, x.dtype, target, casting)
        if target.kind not in "bc" and any(x.dtype.kind == "c" for x in arrays):
            warnings.warn(
                "Casting complex values to real discards the imaginary part",
                un.exceptions.ComplexWarning,
                stacklevel=3,
            )
    if any(not isinstance(x, _engine._Array) for x in arrays):
        raise TypeError(
            f"{what}: not supported for distributed arrays; gather them with np.asarray"
        )
    return _engine._concatenate(arrays, axis, dtype, out)


def _refuse_array_as_axis(what, axis):
    """`concatenate(a, b)`: the second array stands where the axis does."""
    if getattr(axis, "ndim", 0) or isinstance(axis, (list, tuple)):
        raise TypeError(
            f"{what}: the arrays are one argument, a tuple or list of them; "
            f"got a second {type(axis).__name__} as axis; write un.{what}((a, b))"
        )


@_engine._FastPath
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Equal in shape but for `axis`.
    axis : int, optional
        None flattens the arrays before they are joined.
    out : ndarray, optional
    dtype : dtype, optional
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}

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
    >>> un.concatenate(([1, 2], [3.5])).tolist()
    [1.0, 2.0, 3.5]
    """
    _refuse_array_as_axis("concatenate", axis)
    arrays = list(items_together(arrays))
    if axis is None:
        arrays, axis = [x.ravel() for x in arrays], 0
    return _joined("concatenate", arrays, axis, out, dtype, casting)


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Join arrays of equal shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int, optional
        Position of the new axis in the result; the first by default.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

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
    >>> un.stack(([1, 2], [3, 4]), axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    _refuse_array_as_axis("stack", axis)
    arrays = list(items_together(arrays))
    if not arrays:
        raise ValueError("stack: needs at least one array")
    shape = arrays[0].shape
    for x in arrays:
        if x.shape != shape:
            raise ValueError(f"stack: all arrays must have the same shape; got {shape}, {x.shape}")
    axis = axis_index(axis, len(shape) + 1, "stack")
    key = (slice(None),) * axis + (None,)
    return _joined("stack", [_grown(x)[key] for x in arrays], axis, out, dtype, casting)


def _grown(x):
    """`x` as an array: a value becomes one of rank 0."""
    return x if x.ndim else x.reshape(())


def _at_least(arrays, n):
    made = []
    for x in items_together(arrays):
        if x.ndim == 0:
            x = x.reshape(1)
        made.append(x[None] if x.ndim == 1 and n == 2 else x)
    return made


@_engine._FastPath
def vstack(tup, *, dtype=None, casting="same_kind"):
    """Stack arrays vertically: join them along axis 0, vectors as rows.

    Parameters
    ----------
    tup : sequence of array_like
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

    Returns
    -------
    ndarray of two axes or more

    Raises
    ------
    ValueError
        If the shapes differ along another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.vstack(([1, 2], [3, 4])).tolist()
    [[1, 2], [3, 4]]
    """
    return _joined("vstack", _at_least(tup, 2), 0, None, dtype, casting)


@_engine._FastPath
def hstack(tup, *, dtype=None, casting="same_kind"):
    """Stack arrays horizontally: join them along axis 1, vectors along axis 0.

    Parameters
    ----------
    tup : sequence of array_like
    dtype : dtype, optional
    casting : str
        Which conversions are allowed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the shapes differ along another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.hstack(([1, 2], [3])).tolist()
    [1, 2, 3]
    """
    arrays = _at_least(tup, 1)
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return _joined("hstack", arrays, axis, None, dtype, casting)


def dstack(tup):
    """Stack arrays along the third axis, which is added to vectors and matrices.

    Parameters
    ----------
    tup : sequence of array_like

    Returns
    -------
    ndarray of three axes or more

    Raises
    ------
    ValueError
        If the shapes differ along another axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.dstack(([1, 2], [3, 4])).tolist()
    [[[1, 3], [2, 4]]]
    """
    arrays = [x if x.ndim > 2 else x[..., None] for x in _at_least(tup, 2)]
    return _joined("dstack", arrays, 2)


def column_stack(tup):
    """Join arrays as columns: vectors become columns, matrices are joined along axis 1.

    Parameters
    ----------
    tup : sequence of array_like

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    ValueError
        If the columns have different lengths.

    Examples
    --------
    >>> import unisono as un
    >>> un.column_stack(([1, 2], [3, 4])).tolist()
    [[1, 3], [2, 4]]
    """
    arrays = [x if x.ndim > 1 else x.reshape(-1, 1) for x in items_together(tup)]
    return _joined("column_stack", arrays, 1)


def append(arr, values, axis=None):
    """Append values to the end of an array; the result is a new array.

    Parameters
    ----------
    arr, values : array_like
    axis : int, optional
        By default the array is flattened in row-major order.

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
    >>> un.append([1, 2], [3]).tolist()
    [1, 2, 3]
    """
    if axis is None:
        parts = as_array_beside(arr, values).ravel(), as_array_beside(values, arr).ravel()
        return concatenate(parts)
    return concatenate((as_array_beside(arr, values), as_array_beside(values, arr)), axis)


def block(arrays):
    """Assemble an array from nested lists of blocks, the innermost joined along the last axis.

    Parameters
    ----------
    arrays : sequence of array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `arrays` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.block([[un.ones((1, 1)), un.zeros((1, 2))], [un.zeros((1, 3))]]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def depth_of(part):
        if isinstance(part, tuple):
            raise TypeError("block: tuples are not blocks; use lists")
        if not isinstance(part, list):
            return 0
        if not part:
            raise ValueError("block: lists must not be empty")
        depths = {depth_of(p) for p in part}
        if len(depths) > 1:
            raise ValueError("block: all lists must be nested to the same depth")
        return depths.pop() + 1

    def rank_of(part):
        return max(map(rank_of, part)) if isinstance(part, list) else as_array(part).ndim

    depth = depth_of(arrays)
    rank = max(depth, rank_of(arrays))

    def joined(part, level):
        if not isinstance(part, list):
            x = as_array(part)
            return x.reshape((1,) * (rank - x.ndim) + x.shape)
        return _joined("block", [joined(p, level + 1) for p in part], rank - depth + level)

    made = joined(arrays, 0)
    return made.copy() if depth == 0 else made
