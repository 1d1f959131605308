"""Corners where programs meet NumPy's own rules: sequences of values, comparison with no number, positions from C."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


@pytest.mark.parametrize("target", ["bool", "int8", "uint8", "int64", "float32", "complex64"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_sequences_of_values_become_any_dtype(dtype, target):
    h = np.array([1, 0, 3]).astype(dtype)
    x = un.asarray(h)
    made = un.array([x[0], x[1], x[2]], dtype=target)
    expected = np.array([h[0], h[1], h[2]], dtype=target)
    assert made.dtype == target and np.array_equal(np.asarray(made), expected)
    made = un.array([[x[0]], [2]], dtype=target)
    assert np.array_equal(np.asarray(made), np.array([[h[0]], [2]], dtype=target))


@pytest.mark.parametrize("other", [None, "a", b"a"])
def test_no_element_equals_what_is_no_number(other):
    for h in (np.arange(3), np.zeros((2, 0)), np.ones((2, 2), bool)):
        x = un.asarray(h)
        assert np.array_equal(np.asarray(x == other), h == other)
        assert np.array_equal(np.asarray(x != other), h != other)
        assert (x == other).dtype == "bool" and (x == other).shape == h.shape
    assert (un.float64(1) == other) is False and (un.int64(1) != other) is True


def test_c_code_counts_positions_from_the_end():
    get = ctypes.pythonapi.PySequence_GetItem
    get.restype, get.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_ssize_t]
    x = un.arange(5)
    assert get(x, -1) == 4 and get(x, 0) == 0 and get(un.eye(2), -1).tolist() == [0, 1]
    with pytest.raises(IndexError):
        get(x, -6)
    assert list(x) == [0, 1, 2, 3, 4]


def test_arange_by_keyword():
    assert un.arange(stop=3).tolist() == np.arange(stop=3).tolist()
    with pytest.raises(TypeError, match="arange: needs `stop`"):
        un.arange()
    with pytest.raises(TypeError, match="arange: no range of more than two bools; got 10"):
        un.arange(10, dtype=bool)


def test_resize_to_no_axes():
    x = un.array([1.0, 2.0])
    x.resize(())
    assert x.shape == () and float(x) == 1


def test_flags_by_letters():
    x, h = un.zeros((2, 3)), np.zeros((2, 3))
    for name in ("C", "F", "W", "A", "X", "B", "CA", "FA", "FNC", "FORC"):
        assert x.flags[name] == h.flags[name], name


def test_texts_of_bools():
    text = "1 0 -2.3 0.0"
    assert un.fromstring(text, sep=" ", dtype=bool).tolist() == [True, False, True, False]


def test_a_complex_step_of_any_dtype_counts_points():
    expected = np.r_[0 : 36 : np.complex64(4j)]
    assert np.array_equal(np.asarray(un.r_[0 : 36 : un.complex64(4j)]), expected)
    assert np.array_equal(np.asarray(un.r_[0 : 36 : np.complex64(4j)]), expected)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda p: p.searchsorted(p.arange(5), 4, sorter=[0, 1, 2, 3, 5]), ValueError),
        (lambda p: p.searchsorted(p.arange(2), 4, sorter=[0, -1]), ValueError),
        (lambda p: p.nanvar([1.0, np.nan], ddof=1, correction=1), ValueError),
        (lambda p: p.nanstd([1.0, np.nan], ddof=1, correction=1), ValueError),
        (lambda p: p.einsum(), ValueError),
        (lambda p: p.einsum("", 0, out="test"), TypeError),
        (lambda p: p.einsum("", 0, order="W"), ValueError),
        (lambda p: p.einsum("", 0, casting="blah"), ValueError),
        (lambda p: p.cross([[1, 2, 3]], [[1, 2, 3]], axisb=2), "AxisError"),
        (lambda p: p.linalg.norm([[1.0, 2.0]], axis=3), "AxisError"),
    ],
)
def test_errors(call, error):
    for package in (np, un):
        kind = getattr(package.exceptions, error) if isinstance(error, str) else error
        with pytest.raises(kind):
            call(package)


def test_pythons_complex_keeps_the_zeros_of_values():
    zero = un.float64(-0.0)
    for z in (complex(zero, zero), complex(-0.0, zero), complex(zero)):
        assert np.signbit(z.real)
    assert np.signbit(complex(zero, zero).imag) and np.signbit(complex(0.0, zero).imag)
    assert complex(un.float64(1.5), un.int64(2)) == 1.5 + 2j and complex(un.complex128(1j)) == 1j


@pytest.mark.parametrize("decimals", [309, 400, 10**5, -309, -(10**5), 308, -308])
def test_rounding_to_decimals_beyond_the_floats(decimals):
    for h in (np.array([123.456, 5e-324, 0.0]), np.array([12345, -7]), np.array([1.5], "float32")):
        with np.errstate(all="ignore"):
            expected = np.round(h, decimals)
        made = un.round(un.asarray(h), decimals)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize("number", [1, True, 1.5, 2j])
def test_parts_of_pythons_numbers_are_numbers(number):
    for name in ("real", "imag"):
        expected, made = getattr(np, name)(number), getattr(un, name)(number)
        assert type(made) is type(expected) and made == expected


def test_limits_of_one_dtype_are_equal():
    assert un.finfo("f4") == un.finfo(un.float32(1)) != un.finfo("f8")
    assert un.iinfo("i4") == un.iinfo(un.int32) != un.iinfo("u4")
    assert len({un.finfo("f4"), un.finfo(un.float32)}) == 1


def test_an_ellipsis_for_the_output_asks_for_arrays():
    assert type(un.add(1, 2, out=...)) is un.ndarray and un.add(1, 2, out=...).shape == ()
    whole, rest = un.divmod(un.asarray(7), 2, out=...)
    assert (type(whole), type(rest), int(whole), int(rest)) == (un.ndarray, un.ndarray, 3, 1)


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex128"])
def test_coefficients_beyond_a_polynomial_are_zeros_of_its_dtype(dtype):
    p = un.poly1d(un.asarray([1, 2], dtype=dtype))
    assert p[5] == p[-1] == 0 and p[5].dtype == np.poly1d(np.array([1, 2], dtype))[5].dtype


@pytest.mark.parametrize("make", [lambda f: un.frompyfunc(f, 1, 1), un.vectorize])
def test_functions_that_hold_what_holds_them_are_collected(make):
    class Holder:
        def __init__(self):
            self.function = make(self.same)
            self.function(un.arange(2))

        def same(self, x):
            return x

    held = weakref.ref(Holder())
    gc.collect()
    assert held() is None
