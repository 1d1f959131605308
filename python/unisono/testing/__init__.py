"""Assertions about arrays, as NumPy's ``testing``."""

import math

import unisono as _un

from .._arrays.axes import as_array as _as_array
from .check import check as check


def _array(x):
    try:
        return _as_array(x)
    except TypeError:
        return _un.asarray(x)  # NumPy's own array, of numbers of extended precision


# Elements that a message gives one by one.
_most_shown = 5


def _compare(x, y, holds, head, verbose, strict=False, names=("ACTUAL", "DESIRED")):
    """Raise where a condition on elements does not hold, or shapes differ; dtypes too, where that is asked."""
    x, y = _array(x), _array(y)

    def fail(text):
        if verbose:
            text += f"\n {names[0]}: {x!r}\n {names[1]}: {y!r}"
        raise AssertionError(f"{head}\n{text}")

    if x.shape != y.shape and (strict or () not in (x.shape, y.shape)):
        fail(f"(shapes {x.shape}, {y.shape} mismatch)")
    if strict and x.dtype != y.dtype:
        fail(f"(dtypes {x.dtype}, {y.dtype} mismatch)")
    good = _array(holds(x, y))
    if bool(good.all()):
        return
    count = good.size - int(_un.count_nonzero(good))
    text = f"Mismatched elements: {count} / {good.size} ({100 * count / good.size:.3g}%)"
    fail(text + _places(x, y, ~good, count, names) + _differences(x, y, ~good))


def _places(x, y, wrong, count, names):
    """Lines that give the first elements that differ."""
    if wrong.ndim == 0:
        return ""
    lines = ["", "Mismatch at index:" if count == 1 else "Mismatch at indices:"]
    if count > _most_shown:
        lines[1] = f"First {_most_shown} mismatches are at indices:"
    pair = _un.broadcast_arrays(x, y)
    for place in _un.argwhere(wrong)[:_most_shown].tolist():
        shown = (f"{v[tuple(place)].item()} ({name})" for v, name in zip(pair, names, strict=True))
        lines.append(f" {place}: {', '.join(shown)}")
    return "\n".join(lines)


def _differences(x, y, wrong):
    """Lines that say how far numbers are apart where they differ."""
    if "b" in (x.dtype.kind, y.dtype.kind):
        return ""
    apart = abs(x.astype("complex128") - y.astype("complex128"))
    size = abs(y.astype("complex128"))
    known = wrong & _un.isfinite(apart)
    if not bool(known.any()):
        return ""
    most, are_integers = _un.max(apart[known]), not {x.dtype.kind, y.dtype.kind} - {"i", "u"}
    relative = (apart / size)[known & (size != 0)]
    relative = relative.max() if relative.size else _un.inf
    return (
        "\nMax absolute difference among violations: "
        f"{int(most) if are_integers else _un.array2string(most)}\n"
        f"Max relative difference among violations: {_un.array2string(_un.float64(relative))}"
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
        Text to include in the message.
    verbose : bool
        Include the arrays in the message.
    strict : bool
        Dtypes must be equal, too.

    Raises
    ------
    AssertionError
        If an element differs.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_equal([1.0, un.nan], [1.0, un.nan])
    """
    head = f"\nArrays are not equal\n{err_msg}"
    _compare(actual, desired, lambda a, b: (a == b) | _same_nan(a, b), head, verbose, strict)


def _is_array(x):
    """Whether `x` has elements; dtypes and classes have shapes too."""
    return hasattr(x, "__array__") and not isinstance(x, type)


def _holds_numbers(x):
    return _is_array(x) or isinstance(x, (int, float, complex, list, tuple))


def _zeros_differ(x, y):
    """Whether two equal numbers have zeros of different signs, in one of their parts."""
    parts = zip((x.real, x.imag), (y.real, y.imag), strict=True)
    return any(math.copysign(1, a) != math.copysign(1, b) for a, b in parts if a == b == 0)


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """Raise unless two objects are equal: lists, tuples and dicts item by item, arrays as `assert_array_equal`.

    Of numbers, -0.0 is not equal to 0.0.

    Parameters
    ----------
    actual, desired : object
    err_msg : str
        Text to include in the message.
    verbose : bool
        Include the objects in the message.
    strict : bool
        Dtypes and shapes must be equal, too.

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
        if _un.isscalar(actual) and _un.isscalar(desired) and _zeros_differ(actual, desired):
            raise AssertionError(
                f"Items are not equal: signs of zeros differ\n{err_msg}\n actual: {actual!r}\n desired: {desired!r}"
            )
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
        Treat NaN as equal to NaN.
    err_msg : str
        Text to include in the message.
    verbose : bool
        Include the arrays in the message.
    strict : bool
        Dtypes and shapes must be equal, too.

    Raises
    ------
    AssertionError
        If elements differ by more than the tolerance.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    """
    head = f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}"

    def near(a, b):
        return _un.isclose(a, b, rtol, atol, equal_nan)

    _compare(actual, desired, near, head, verbose, strict)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    """Raise unless each element of `x` is less than that of `y`, or both are NaN.

    Parameters
    ----------
    x, y : array_like
    err_msg : str
        Text to include in the message.
    verbose : bool
        Include the arrays in the message.
    strict : bool
        Dtypes and shapes must be equal, too.

    Raises
    ------
    AssertionError
        If an element is not less.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_less([1, 2], 3)
    """
    head = f"\nArrays are not strictly ordered `x < y`\n{err_msg}"
    names = ("x", "y")
    _compare(x, y, lambda a, b: (a < b) | _same_nan(a, b), head, verbose, strict, names)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    """Raise unless elements agree within ``1.5 * 10 ** -decimal``.

    Parameters
    ----------
    actual, desired : array_like
    decimal : int
        Digits after the point that agree.
    err_msg : str
        Text to include in the message.
    verbose : bool
        Include the arrays in the message.

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
        if a.dtype.kind == b.dtype.kind == "b":
            return a == b
        return (abs(a - b) < 1.5 * 10.0**-decimal) | (a == b) | _same_nan(a, b)

    _compare(actual, desired, near, head, verbose)


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    """Raise unless elements agree within ``1.5 * 10 ** -decimal``: six digits by default, where `assert_almost_equal` has seven.

    Parameters
    ----------
    actual, desired : array_like
    decimal : int
    err_msg : str
    verbose : bool

    Raises
    ------
    AssertionError

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_almost_equal([1.0, 2.0000003], [1.0, 2.0])
    """
    assert_almost_equal(actual, desired, decimal, err_msg, verbose)


def assert_array_almost_equal_nulp(x, y, nulp=1):
    """Raise unless elements differ by at most so many times the distance to the next number.

    Parameters
    ----------
    x, y : array_like
    nulp : int
        How many units in the last place of the larger number.

    Raises
    ------
    AssertionError
        If elements differ by more.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_almost_equal_nulp(1.0, 1.0 + un.finfo(un.float64).eps)
    """
    x, y = _array(x), _array(y)
    limit = nulp * _un.spacing(_un.maximum(abs(x), abs(y)))
    if bool((abs(x - y) <= limit).all()):
        return
    text = f"Arrays are not equal to {nulp} ULP"
    if "c" not in (x.dtype.kind, y.dtype.kind):
        text += f" (max is {float(_un.max(_steps_apart(x, y))):g})"
    raise AssertionError(text)


def assert_array_max_ulp(a, b, maxulp=1, dtype=None):
    """Raise unless at most so many floating-point numbers lie between elements.

    Parameters
    ----------
    a, b : array_like
        Real numbers.
    maxulp : int
    dtype : dtype, optional
        In which to compare; by default that of the operands, float64 for integers.

    Returns
    -------
    ndarray
        The number of steps between each pair of elements, with an axis of extent 1 in front.

    Raises
    ------
    AssertionError
        If elements are further apart.
    NotImplementedError
        If the elements are complex.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_array_max_ulp(1.0, un.nextafter(1.0, 2.0)).tolist()
    [1.0]
    """
    apart = _steps_apart(_array(a), _array(b), dtype)
    if not bool((apart <= maxulp).all()):
        raise AssertionError(
            f"Arrays are not almost equal up to {maxulp:g} ULP "
            f"(max difference is {float(_un.max(apart)):g} ULP)"
        )
    return apart


def _steps_apart(x, y, dtype=None):
    """How many numbers lie between elements, as floats, with an axis of 1 in front as NumPy gives them."""
    kind = _un.common_type(x, y) if dtype is None else _un.dtype(dtype)
    if kind.kind == "c":
        raise NotImplementedError("assert_array_max_ulp: not supported for complex arrays")
    x, y = (z.astype(kind)[None] for z in (x, y))
    if x.shape != y.shape:
        raise ValueError(f"Arrays do not have the same shape: {x.shape} - {y.shape}")
    order = [_integers_in_order(_un.where(_un.isnan(z), _un.nan, z).astype(kind)) for z in (x, y)]
    return abs((order[0] - order[1]).astype(kind))


def _integers_in_order(x):
    """Integers that count floating-point numbers upwards; both zeros are 0."""
    bits = x.view(f"int{8 * x.dtype.itemsize}")
    return _un.where(bits < 0, _un.iinfo(bits.dtype).min - bits, bits)


def assert_approx_equal(actual, desired, significant=7, err_msg="", verbose=True):
    """Raise unless two numbers agree to so many significant digits.

    Parameters
    ----------
    actual, desired : number
    significant : int
        How many digits.
    err_msg : str
        Put into the message.
    verbose : bool
        Put the numbers into the message.

    Raises
    ------
    AssertionError
        If the numbers differ in these digits.

    Examples
    --------
    >>> import unisono as un
    >>> un.testing.assert_approx_equal(0.12345677777777e-20, 0.1234567e-20)
    """
    actual, desired = float(actual), float(desired)
    if actual == desired or (actual != actual and desired != desired):
        return
    size = 0.5 * (abs(actual) + abs(desired))
    scale = 10.0 ** math.floor(math.log10(size)) if 0 < size < math.inf else math.nan
    scale = scale or 5e-324  # the least number, where the power of ten is below it
    if abs(desired / scale - actual / scale) < 10.0 ** -(significant - 1):
        return
    text = f"\nItems are not equal to {significant} significant digits:\n{err_msg}"
    raise AssertionError(
        text + (f"\n ACTUAL: {actual!r}\n DESIRED: {desired!r}" if verbose else "")
    )


def __getattr__(name):
    """What looks at no array, as warnings, exceptions, files and facts about the platform, is NumPy's own."""
    if name.startswith("_"):
        raise AttributeError(f"module 'unisono.testing' has no attribute {name!r}")
    import numpy.testing

    return getattr(numpy.testing, name)


__all__ = [
    "assert_approx_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_max_ulp",
    "assert_allclose",
    "assert_almost_equal",
    "assert_array_almost_equal",
    "assert_array_equal",
    "assert_array_less",
    "assert_equal",
]
