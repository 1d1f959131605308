"""Assertions about arrays, as NumPy's ``testing``."""

import unisono as _un

from ._arrays.axes import as_array as _array


def _compare(x, y, holds, head, verbose, detail=None):
    """Raise where a condition on elements does not hold, or shapes differ."""
    x, y = _array(x), _array(y)
    if x.shape != y.shape and () not in (x.shape, y.shape):
        raise AssertionError(f"{head}\n(shapes {tuple(x.shape)}, {tuple(y.shape)} mismatch)")
    good = _array(holds(x, y))
    if bool(good.all()):
        return
    wrong = good.size - int(_un.count_nonzero(good))
    text = f"{head}\nMismatched elements: {wrong} / {good.size} ({100 * wrong / good.size:.3g}%)"
    if detail is not None:
        text += detail(x, y)
    if verbose:
        text += f"\n x: {x!r}\n y: {y!r}"
    raise AssertionError(text)


def _differences(x, y):
    """Lines that say how far numbers are apart."""
    if "b" in (x.dtype.kind, y.dtype.kind):
        return ""
    apart = abs(x.astype("complex128") - y.astype("complex128"))
    size = abs(y.astype("complex128"))
    known = _un.isfinite(apart)
    if not bool(known.any()):
        return ""
    text = f"\nMax absolute difference among violations: {float(_un.max(apart[known])):.8g}"
    relative = (apart / size)[known & (size != 0)]
    return text + (
        f"\nMax relative difference among violations: {float(relative.max()):.8g}"
        if relative.size
        else ""
    )


def _same_nan(x, y):
    both = [v.dtype.kind in "fc" for v in (x, y)]
    return _un.isnan(x) & _un.isnan(y) if all(both) else False


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """Raise unless shapes and all elements are equal; NaN equals NaN.

    Parameters
    ----------
    actual, desired : array_like
        A number agrees with each element of an array, unless `strict`.
    err_msg : str
        Put into the message.
    verbose : bool
        Put the arrays into the message.
    strict : bool
        Also dtypes must be equal.

    Raises
    ------
    AssertionError
        An element differs.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_equal([1.0, un.nan], [1.0, un.nan])
    """
    x, y = _array(actual), _array(desired)
    if strict and (x.shape != y.shape or x.dtype != y.dtype):
        raise AssertionError(
            f"Arrays are not equal\n{err_msg}\n(shapes {tuple(x.shape)}, {tuple(y.shape)}; dtypes {x.dtype}, {y.dtype})"
        )
    _compare(
        x,
        y,
        lambda a, b: (a == b) | _same_nan(a, b),
        f"\nArrays are not equal\n{err_msg}",
        verbose,
        _differences,
    )


def _is_array(x):
    """Whether `x` has elements; dtypes and classes have shapes too."""
    return hasattr(x, "__array__") and not isinstance(x, type)


def _holds_numbers(x):
    return _is_array(x) or isinstance(x, (int, float, complex, list, tuple))


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """Raise unless two objects are equal: lists, tuples and dicts item by item, arrays as `assert_array_equal`.

    Parameters
    ----------
    actual, desired : object
    err_msg : str
        Put into the message.
    verbose : bool
        Put the objects into the message.
    strict : bool
        Also dtypes and shapes must be equal.

    Raises
    ------
    AssertionError
        If they differ.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_equal({"a": [1, 2]}, {"a": [1, 2]})
    """
    if isinstance(desired, dict):
        if not isinstance(actual, dict) or actual.keys() != desired.keys():
            raise AssertionError(
                f"Items are not equal:\n{err_msg}\n actual: {actual!r}\n desired: {desired!r}"
            )
        for key in desired:
            assert_equal(actual[key], desired[key], f"key={key!r}\n{err_msg}", verbose)
    elif isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for k, (one, other) in enumerate(zip(actual, desired, strict=True)):
            assert_equal(one, other, f"item={k}\n{err_msg}", verbose)
    elif all(_holds_numbers(x) for x in (actual, desired)):
        assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
    elif _is_array(actual) or _is_array(desired) or actual != desired:
        raise AssertionError(
            f"Items are not equal:\n{err_msg}\n actual: {actual!r}\n desired: {desired!r}"
        )


def assert_allclose(
    actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False
):
    """Raise unless elements agree within ``atol + rtol * abs(desired)``.

    Parameters
    ----------
    actual, desired : array_like
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        NaN agrees with NaN.
    err_msg : str
        Put into the message.
    verbose : bool
        Put the arrays into the message.
    strict : bool
        Also dtypes and shapes must be equal.

    Raises
    ------
    AssertionError
        If elements differ by more than the tolerance.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    """
    x, y = _array(actual), _array(desired)
    if strict:
        assert_array_equal(x.shape, y.shape, err_msg)
        assert_equal(x.dtype.name, y.dtype.name, err_msg)
    head = f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}"
    _compare(
        x, y, lambda a, b: _un.isclose(a, b, rtol, atol, equal_nan), head, verbose, _differences
    )


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    """Raise unless each element of `x` is less than that of `y`.

    Parameters
    ----------
    x, y : array_like
    err_msg : str
        Put into the message.
    verbose : bool
        Put the arrays into the message.
    strict : bool
        Also dtypes and shapes must be equal.

    Raises
    ------
    AssertionError
        An element is not less.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_less([1, 2], 3)
    """
    x, y = _array(x), _array(y)
    if strict:
        assert_equal((tuple(x.shape), x.dtype.name), (tuple(y.shape), y.dtype.name), err_msg)
    _compare(
        x, y, lambda a, b: a < b, f"\nArrays are not strictly ordered `x < y`\n{err_msg}", verbose
    )


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    """Raise unless elements agree within ``1.5 * 10 ** -decimal``.

    Parameters
    ----------
    actual, desired : array_like
    decimal : int
        Digits after the point that agree.
    err_msg : str
        Put into the message.
    verbose : bool
        Put the arrays into the message.

    Raises
    ------
    AssertionError
        If elements differ by more than the tolerance.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_almost_equal(1.00000001, 1.0)
    """
    head = f"\nArrays are not almost equal to {decimal} decimals\n{err_msg}"

    def near(a, b):
        return (abs(a - b) < 1.5 * 10.0**-decimal) | (a == b) | _same_nan(a, b)

    _compare(actual, desired, near, head, verbose, _differences)


assert_array_almost_equal = assert_almost_equal

__all__ = [
    "assert_allclose",
    "assert_almost_equal",
    "assert_array_almost_equal",
    "assert_array_equal",
    "assert_array_less",
    "assert_equal",
]
