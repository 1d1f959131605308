"""Forms of NumPy that the manuals of compilers list: views of other dtypes, np.r_, lists of arrays, dtypes."""

import numpy as np
import pytest
import unisono as un
from numpy.polynomial import polynomial


def views(a):
    v = a.view(np.int64)
    v[0] = 7
    return v, a.view("i4"), a.view(np.uint8), a.reshape(2, 3).view(np.int16), a[::2].view(np.uint64)


def overlap(a):
    v = a.view(np.uint64)
    v[1:] = a[:-1]
    a[2:] = v[:-2]
    return v


def buffers(a):
    octets = a.view(np.uint8)
    return (
        np.frombuffer(octets),
        np.frombuffer(a, np.int32),
        np.frombuffer(a, dtype=np.int16, count=2, offset=4),
    )


def dtypes(a):
    x = a[1]
    return (
        (a.dtype.type(3), np.zeros(2, np.dtype("float32")), np.dtype(np.int32) == a.dtype)
        + (np.dtype(a.dtype) == np.float64, a.ctypes.data % 8, x.dtype == a.dtype, x.itemsize)
        + (x.astype(np.int32), x.ndim, x.size, a.flags["C_CONTIGUOUS"], getattr(a, "size"))  # noqa: B009
    )


def lists(a):
    m = a.reshape(2, 3)
    return m.tolist(), a.tolist(), m[0, 1].tolist(), (m > 2).tolist(), m.reshape(1, 2, 3).tolist()


def arrays(a):
    return (
        (np.delete(a, slice(1, 3)), np.delete(a.reshape(2, 3), slice(None, None, 2), axis=1))
        + (np.fromiter((x * 2 for x in a), np.float32), np.fromiter(range(5), dtype=int, count=3))
        + (np.array(range(4)), np.asarray(range(1, 4)), np.float32([1, 2]))
        + (np.r_[a, 1, 2:5], np.c_[a, a])
    )


def polynomials(a):
    b = a[1:4] + 0.5
    return (
        (polynomial.polyadd(a, -b), polynomial.polysub(a, a), polynomial.polymul(a, b))
        + (polynomial.polyval(2.0, a), polynomial.polyval(a, b), polynomial.polyder(a))
        + (polynomial.polyint(a, 2), *polynomial.polydiv(a, b), *polynomial.polydiv(b, a))
    )


def codes_of_dtypes(a):
    return (
        np.zeros(2, dtype="f4"),
        np.ones(2, "i2"),
        a.astype("u1"),
        np.array([1, 2], dtype="c16"),
    ) + (a.dtype == "float64", "f4" == a.dtype, a.dtype != "d", np.full_like(a, 2, dtype="?"))


def more_axes(a):
    m = a.reshape(2, 3)
    return (
        (np.dstack((m, m + 1)), np.dstack([a, a]), np.dstack((m[:, :, None], m[:, :, None])))
        + (np.rot90(m), np.rot90(m, 2), np.rot90(m, k=-1), np.rot90(m, 4))
        + (np.atleast_1d(a[1]), np.atleast_2d(a[1]), np.atleast_3d(a[1]), np.atleast_2d(m))
        + (np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a), np.atleast_3d(m))
    )


FUNCTIONS = [
    views,
    overlap,
    buffers,
    dtypes,
    lists,
    arrays,
    polynomials,
    codes_of_dtypes,
    more_axes,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_numpy(function):
    ours, theirs = np.arange(6.0), np.arange(6.0)
    whole = function in (codes_of_dtypes, more_axes)
    compiled = un.jit(nopython=True)(function) if whole else un.jit(function)
    for got, wanted in zip(compiled(ours), function(theirs), strict=True):
        assert type(got) is type(wanted) or type(wanted) is not list
        got, wanted = np.asarray(got), np.asarray(wanted)
        assert got.dtype == wanted.dtype or not got.ndim
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(ours, theirs)


def test_sizes_that_do_not_fit():
    f = un.jit(lambda a: a.view(np.int64))
    with pytest.raises(ValueError, match="must be a divisor of the total size in bytes"):
        f(np.arange(6, dtype=np.uint8))
    with pytest.raises(ValueError, match="the last axis must be contiguous"):
        f(np.arange(6, dtype=np.int32)[::2])


def in_place(x, out):
    np.add(x, 1, out)
    np.multiply(out, x, out=out)
    return np.fabs(out, out=out)


def test_elementwise_functions_take_where_their_result_goes():
    x = np.arange(-3.0, 3.0)
    out, expected = np.empty(6), np.empty(6)
    result = un.jit(in_place, nopython=True)(x, out)
    np.testing.assert_array_equal(result, in_place(x, expected))
    np.testing.assert_array_equal(out, expected)


def test_results_of_another_kind_are_refused():
    with pytest.raises(un.CompileError, match="float64, which an array of int64 does not take"):
        un.jit(in_place, nopython=True)(np.arange(3.0), np.arange(3))


@pytest.mark.parametrize("dtype", [np.int64, np.int8])
def test_functions_compare_unsigned_integers_by_value(dtype):
    @un.jit
    def below(a, b):
        return np.less(a, b), np.greater_equal(a, b)

    a, b = np.array([-1, 1, 5], dtype), np.array([2**64 - 1, 1, 0], np.uint64)
    for given in ((a, b), (b, a)):
        for found, expected in zip(below(*given), below.py_func(*given), strict=True):
            np.testing.assert_array_equal(found, expected)
