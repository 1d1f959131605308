"""Statistics over axes: NumPy's reductions beyond those that the engine has by itself."""

import builtins
import math
import operator
import warnings

import unisono

from .. import _engine, exceptions
from .._arrays.axes import as_array as _as
from .._arrays.axes import (
    as_array_beside,
    as_array_within,
    axis_error,
    axis_index,
    extent,
    flat,
    restore_axes,
    store,
)
from .._arrays.ufunc import check_mask, is_python_number


def _common(*dtypes):
    """The dtype that all promote to."""
    made = unisono.empty(0, dtypes[0])
    for t in dtypes[1:]:
        made = unisono.where(True, made, unisono.empty(0, t))
    return made.dtype


def _is_inexact(dtype):
    return dtype.kind in "fc"


def _float_for(x, dtype):
    """The dtype in which means and variances are computed."""
    if dtype is not None:
        return dtype
    if not _is_inexact(x.dtype):
        return unisono.float64
    return unisono.float32 if x.dtype.name == "float16" else None


def _masked(x, where, fill):
    if where is None or where is True:
        return x
    mask = as_array_beside(where, x).astype("bool", copy=False)
    check_mask("where", mask, x.shape)
    return unisono.where(mask, x, fill)


def _initial(combine, initial, result):
    if initial is None:
        return result
    return combine(as_array_within(initial, result), result)


def _dtype_of_out(x, dtype, out):
    """The dtype in which NumPy computes: that of ``out=`` where none is given and it takes the elements."""
    if dtype is None and isinstance(out, _engine._Array):
        if unisono.can_cast(x.dtype, out.dtype, "same_kind"):
            return out.dtype
    return dtype


def full_sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Sum with every option of NumPy's; the method `sum` comes here for the rare ones."""
    x = _as(x)
    dtype = _dtype_of_out(x, dtype, out)
    # A sum of no elements is its start, also where that is -0.0.
    empty = -0.0 if initial is not None and x.dtype.kind == "f" else 0
    result = _masked(x, where, empty).sum(axis, dtype, keepdims=keepdims)
    if initial is not None and x.size == 0:
        result = unisono.full(result.shape, initial, result.dtype, device=x.device)
        return store("sum", result, out)
    return store("sum", _initial(operator.add, initial, result), out)


def full_prod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product with every option of NumPy's."""
    x = started(_masked(_as(x), where, 1), initial, dtype)
    result = x.prod(axis, dtype, keepdims=keepdims)
    return store("prod", _initial(operator.mul, initial, result), out)


def started(x, initial, dtype=None):
    """Factors of a product that NumPy would start with `initial`: from 0, none overflows to inf."""
    if initial is None or not bool(unisono.all(unisono.asarray(initial) == 0)):
        return x
    return (x if dtype is None else x.astype(dtype)) * 0


def full_max(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Maximum with every option of NumPy's."""
    return store(
        "max", _extreme("max", unisono.maximum, _as(x), axis, keepdims, initial, where), out
    )


def full_min(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Minimum with every option of NumPy's."""
    return store(
        "min", _extreme("min", unisono.minimum, _as(x), axis, keepdims, initial, where), out
    )


def _extreme(name, combine, x, axis, keepdims, initial, where):
    if where is not True and initial is None:
        raise ValueError(
            f"{name}: has no identity, so a where mask needs initial=; give a value below (or above) all elements"
        )
    if initial is not None:
        x = _masked(x, where, as_array_within(initial, x))
        if x.size == 0 and extent(x, axis) == 0:
            shape = x.sum(axis, keepdims=keepdims).shape
            return unisono.full(shape, initial, x.dtype, device=x.device)
    return _initial(combine, initial, getattr(x, name)(axis=axis, keepdims=keepdims))


def full_any(x, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element is true, with every option of NumPy's."""
    return store("any", _masked(_truth(x), where, False).any(axis=axis, keepdims=keepdims), out)


def full_all(x, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements are true, with every option of NumPy's."""
    return store("all", _masked(_truth(x), where, True).all(axis=axis, keepdims=keepdims), out)


def _truth(x):
    return _as(x).astype("bool", copy=False)


def _counted(x, axis, where, keepdims=False):
    """How many elements a reduction sees: a Python number, or an array where a mask decides."""
    if where is None or where is True:
        return extent(x, axis)
    mask = unisono.broadcast_to(_as(where).astype("bool", copy=False), x.shape)
    return mask.sum(axis, keepdims=keepdims)


def _divide(total, count):
    """total / count in total's own dtype; nothing divided by nothing is NaN."""
    if is_python_number(count):
        if count == 0:
            return total * math.nan if builtins.bool(total.dtype.kind == "c") else total / 0.0
        return total / count
    return total / _as(count).astype(_real_of(total.dtype))


def _real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype)


def _check_counts(enough, text):
    """Warn as NumPy does where a statistic has nothing to divide by."""
    if enough is not True and not builtins.bool(unisono.all(enough)):
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Arithmetic mean over `axis`.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of ints, optional
        All axes by default.
    dtype : dtype, optional
        Dtype of the sum; by default float64 for integers.
    out : ndarray, optional
    keepdims : bool
        Keep the reduced axes, with extent 1.
    where : array_like of bool, optional
        Elements to include.

    Returns
    -------
    ndarray
        NaN if no elements are included.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.mean([[1, 2], [3, 6]], axis=0).tolist()
    [2.0, 4.0]
    """
    a = _as(a)
    result = plain_mean(a, axis, dtype, out, keepdims, where)
    if a.size == 0 or where is not True:
        _check_counts(_counted(a, axis, where) != 0, "Mean of empty slice")
    return result


def _needs_numbers(name, a):
    """Raise the error after which NumPy's function is asked (`numpys_elements`)."""
    if not isinstance(a, (_engine._Array, *_engine._values)):
        raise TypeError(f"{name}: elements must be numbers; got an array of {a.dtype}")


def plain_mean(a, axis, dtype, out, keepdims, where):
    """The mean without NumPy's warning."""
    _needs_numbers("mean", a)
    compute = _float_for(a, dtype)
    try:
        total = _masked(a, where, 0).sum(axis, compute, keepdims=keepdims)
    except exceptions.AxisError as error:
        raise axis_error("mean", error) from None
    count = _counted(a, axis, where, keepdims)
    result = _divide(_inexact(total), count)
    if dtype is not None or a.dtype.name == "float16":
        result = result.astype(a.dtype if dtype is None else dtype, copy=False)
    return store("mean", result, out)


def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """Variance over `axis`: the mean of squared distances from the mean, in two passes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of ints, optional
    dtype : dtype, optional
        Dtype of the computation; by default float64 for integers.
    out : ndarray, optional
    ddof : number
        The divisor is the count minus `ddof`.
    keepdims : bool
    where : array_like of bool, optional
    mean : array_like, optional
        The mean, if it is already known, with the reduced axes kept.
    correction : number, optional
        The array API's name for `ddof`.

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
    >>> float(un.var([1.0, 2.0, 3.0, 4.0]))
    1.25
    """
    if correction is not None:
        if ddof != 0:
            raise ValueError("var: ddof and correction are one thing; give only one of them")
        ddof = correction
    a = _as(a)
    result = plain_var(a, axis, dtype, out, ddof, keepdims, where, mean)
    if a.size == 0 or ddof or where is not True:
        enough = _counted(a, axis, where) > ddof
        _check_counts(enough, "Degrees of freedom <= 0 for slice")
    return result


def plain_var(a, axis, dtype, out, ddof, keepdims, where, mean):
    """The variance without NumPy's warning."""
    _needs_numbers("var", a)
    given = a.dtype
    if dtype is None:
        compute = _float_for(a, None)
        if compute is not None:
            a = a.astype(compute, copy=False)
    if mean is None:
        try:
            total = _masked(a, where, 0).sum(axis, dtype, keepdims=True)
        except exceptions.AxisError as error:
            raise axis_error("var", error) from None
        mean = _divide(_inexact(total), _counted(a, axis, where, True))
        if dtype is not None:
            mean = mean.astype(dtype, copy=False)
    distance = a - mean
    if distance.dtype.kind == "c":
        square = distance.real * distance.real + distance.imag * distance.imag
    else:
        square = distance * distance
    total = _inexact(_masked(square, where, 0).sum(axis, dtype, keepdims=keepdims))
    count = _counted(a, axis, where, keepdims)
    if is_python_number(count):
        count = builtins.max(count - ddof, 0)
    else:
        count = unisono.maximum(_as(count).astype("float64") - ddof, 0.0)
    result = _divide(total, count)
    if dtype is not None or given.name == "float16":
        result = result.astype(given if dtype is None else dtype, copy=False)
    return store("var", result, out)


def _inexact(total):
    """Sums in an integer dtype as floats, which can be divided."""
    return total if _is_inexact(total.dtype) else total.astype("float64")


def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """Standard deviation over `axis`: the square root of `var`, whose parameters it has.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    ddof : int
        The divisor is the number of elements minus `ddof`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    where : array_like of bool
        Elements to include.
    mean : array_like, optional
        The mean, if it is already known.
    correction : int, optional
        As `ddof`.

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
    >>> float(un.std([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]))
    2.0
    """
    try:
        square = var(
            a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    except exceptions.AxisError as error:
        raise axis_error("std", error) from None
    result = unisono.sqrt(square)
    if dtype is not None:
        result = result.astype(dtype, copy=False)
    return store("std", result, out)


def _arg(x, axis, keepdims, largest, out):
    name = "argmax" if largest else "argmin"
    x = _as(x)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        result = _engine._arg_extreme(x if x.ndim == 1 else flat(x), 0, largest)
        if out is None and not keepdims:
            return result
        if keepdims:
            result = result.reshape((1,) * x.ndim)
    else:
        axis = axis_index(axis, x.ndim, name)
        result = _engine._arg_extreme(x, axis, largest)
        if keepdims:
            result = restore_axes(result, x, (axis,))
    return store(name, result, out)


@_engine._FastPath
def argmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first largest element along `axis`; of the first NaN, where there is one.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the index counts in row-major order over all elements.
    out : ndarray, optional
    keepdims : bool

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
    >>> un.argmax([[1, 5, 2], [7, 0, 7]], axis=1).tolist()
    [1, 0]
    """
    return _arg(a, axis, keepdims, True, out)


@_engine._FastPath
def argmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first smallest element along `axis`; of the first NaN, where there is one.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the index counts in row-major order over all elements.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.

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
    >>> un.argmin([3, 1, 2]).item()
    1
    """
    return _arg(a, axis, keepdims, False, out)


def ptp(a, axis=None, out=None, keepdims=False):
    """Maximum minus minimum over `axis`.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.

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
    >>> int(un.ptp([4, 9, 2]))
    7
    """
    a = _as(a)
    return store(
        "ptp", a.max(axis=axis, keepdims=keepdims) - a.min(axis=axis, keepdims=keepdims), out
    )


@_engine._FastPath
def count_nonzero(a, axis=None, *, keepdims=False):
    """Number of nonzero elements over `axis`; NaN is nonzero.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    keepdims : bool
        Keep the reduced axes, with extent 1.

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
    >>> int(un.count_nonzero([0, 3, 0, 1]))
    2
    """
    return _truth(a).sum(axis, keepdims=keepdims)
