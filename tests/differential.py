"""Calls NumPy's function and ours on the same arguments and compares value, dtype, shape and exception."""

import copy
import warnings

import numpy as np


def result_or_error(function, *args, **kwargs):
    """The result, or the class and the text of the exception."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def outcome(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except (
            TypeError,
            ValueError,
            IndexError,
            ZeroDivisionError,
            OverflowError,
            RuntimeError,
        ) as e:
            return e


def effects(function, args):
    """What a call on copies of the arguments gives or raises, and what it leaves in them, as text."""
    args = copy.deepcopy(args)
    try:
        value = function(*args)
    except Exception as error:
        value = type(error), str(error)
    return repr(value), repr(args)


def compare(numpy_function, our_function, *args, exact=True, relative=None, **options):
    """Both outcomes are equal: bits, or within rounding where ``exact=False``; else exceptions of one class."""
    expected = outcome(numpy_function, *args, **options)
    got = outcome(our_function, *args, **options)
    what = f"{numpy_function.__name__}{args} {options}"
    if isinstance(expected, Exception) or isinstance(got, Exception):
        assert isinstance(expected, Exception), f"{what}: ours raised {got!r}"
        assert isinstance(got, Exception), f"{what}: NumPy raised {expected!r}"
        kinds = (IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError, RuntimeError)
        kind = next(k for k in kinds if isinstance(expected, k))
        assert isinstance(got, kind), f"{what}: {got!r} instead of {expected!r}"
        return
    if not isinstance(expected, tuple):
        expected, got = (expected,), (got,)
    assert len(expected) == len(got), what
    for e, g in zip(expected, got, strict=True):
        equal(e, g, what, exact, relative)


def equal(expected, got, what="", exact=True, relative=None):
    expected, got = np.asarray(expected), np.asarray(got)
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype} instead of {expected.dtype}"
    assert got.shape == expected.shape, f"{what}: shape {got.shape} instead of {expected.shape}"
    if exact or expected.dtype.kind not in "fc":
        assert np.array_equal(got, expected, equal_nan=expected.dtype.kind in "fc"), (
            f"{what}: {got} instead of {expected}"
        )
        return
    tolerance = relative or {2: 1e-2, 4: 2e-6, 8: 2e-6}.get(expected.real.dtype.itemsize * 1, 1e-12)
    if expected.real.dtype.itemsize == 8:
        tolerance = relative or 1e-12
    assert np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True), (
        f"{what}: {got} instead of {expected}"
    )


def inputs(dtype, seed=0):
    """Arrays of that dtype: 0-d, empty, several ranks, views, with repeats and, for floats, NaN."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    low = 0 if kind in "bu" else -100
    for shape in [(), (0,), (1,), (7,), (3, 4), (2, 3, 40), (0, 3), (600,)]:
        x = random.random(shape) * 120 + low
        if kind == "c":
            x = x + 1j * (random.random(shape) * 120 + low)
        x = np.asarray(np.round(x, 1) if kind in "fc" else x).astype(dtype)
        yield x
        if x.ndim > 1:
            yield x.T
            yield x[::-1, ::2]
        if kind in "fc" and x.size > 3:
            x = x.copy()
            x.reshape(-1)[2] = np.nan
            yield x
