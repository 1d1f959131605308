"""Whether arrays or their elements are equal, close, or infinite."""

import math
import warnings

import unisono as un

from .._arrays.axes import arrays_together, as_array, as_array_beside
from .._arrays.exchange.numpys_elements import by_numpy
from .._arrays.ufunc import is_python_number
from .convolution import _inexact


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements agree within ``atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : array_like
    rtol : float
        Relative to `b`.
    atol : float
    equal_nan : bool
        Treat NaN as equal to NaN.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> un.isclose([1.0, 2.0], [1.0, 2.1]).tolist()
    [True, False]
    """
    for tolerance in (rtol, atol):
        if isinstance(tolerance, float) and not math.isfinite(tolerance):
            text = f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            break
    # Python's numbers take the dtype of the other operand, as NumPy's do.
    x = a if is_python_number(a) else as_array_beside(a, b)
    y = as_array_beside(b, x)
    if is_python_number(b):
        y = float(b) if isinstance(b, int) else b
    if isinstance(y, un._engine._Array) and y.dtype.kind not in "fc":
        y = y.astype("float64")
    close = un.less_equal(abs(x - y), atol + rtol * abs(y)) & un.isfinite(y) | (x == y)
    if equal_nan:
        close = close | (un.isnan(_inexact(as_array(x))) & un.isnan(y))
    return close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements agree within the tolerance of `isclose`.

    Parameters
    ----------
    a, b : array_like
    rtol : float
        Relative to `b`.
    atol : float
    equal_nan : bool
        Treat NaN as equal to NaN.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> un.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal.

    Parameters
    ----------
    a1, a2 : array_like
    equal_nan : bool
        Treat NaN as equal to NaN.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `a1` or `a2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.array_equal([1, 2], [1, 2])
    True
    """
    try:
        x, y = arrays_together(a1, a2)
    except (TypeError, ValueError):
        return _equal_for_numpy("array_equal", a1, a2, equal_nan)
    if tuple(x.shape) != tuple(y.shape):
        return False
    equal = x == y
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        equal = equal | (un.isnan(x) & un.isnan(y))
    return bool(equal.all())


def array_equiv(a1, a2):
    """Whether shapes broadcast and elements are equal.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `a1` or `a2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.array_equiv([1, 1], 1)
    True
    """
    try:
        x, y = arrays_together(a1, a2)
        return bool((x == y).all())
    except (TypeError, ValueError):
        return _equal_for_numpy("array_equiv", a1, a2)


def _equal_for_numpy(name, *args):
    """What NumPy says of operands that are no arrays of numbers, as text of another library's columns."""
    made = by_numpy(name, *args)
    return made is not NotImplemented and bool(made)


def isposinf(x, out=None):
    """Whether elements are positive infinity.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        If the array is complex.

    Examples
    --------
    >>> import unisono as un
    >>> un.isposinf([-un.inf, 1, un.inf]).tolist()
    [False, False, True]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("isposinf: not defined for complex dtypes, where it would be ambiguous")
    return un.equal(x, un.inf, out=out)


def isneginf(x, out=None):
    """Whether elements are negative infinity.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        If the array is complex.

    Examples
    --------
    >>> import unisono as un
    >>> un.isneginf([-un.inf, 1, un.inf]).tolist()
    [True, False, False]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("isneginf: not defined for complex dtypes, where it would be ambiguous")
    return un.equal(x, -un.inf, out=out)
