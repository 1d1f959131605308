"""Programs that read, write and compute with single elements: what NumPy's scalars give."""

import operator
import warnings

import numpy as np
import pytest
import unisono as un

dtypes = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
binary = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
]
binary += ["pow", "lt", "le", "gt", "ge", "eq", "ne"]
numbers = [
    0,
    1,
    2,
    3,
    7,
    100,
    127,
    128,
    255,
    256,
    -1,
    -128,
    -129,
    2**31,
    2**40,
    -(2**40),
    0.5,
    -0.0,
    2.0,
    np.inf,
]
numbers += [True, False]


def outcome(f, *args):
    """Dtype and bits, or the class of the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = f(*args)
        except (TypeError, OverflowError, ValueError, ZeroDivisionError) as e:
            return type(e)
    if isinstance(made, (un._engine._Array, *un._engine._values)):
        made = np.asarray(made)[()]
    return np.dtype(type(made)).name, "nan" if made != made else np.asarray(made).tobytes()


def elements(xp, dtype):
    """Few numbers of the dtype, as its values."""
    given = np.array([0, 1, 2, 3, 5, 100]).astype(dtype)
    if given.dtype.kind in "if":
        given = np.concatenate([given, -given])
    return list(xp.array(given))


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("name", binary)
def test_two_values(name, dtype):
    f = getattr(operator, name)
    for a, a_np in zip(elements(un, dtype), elements(np, dtype), strict=True):
        for b, b_np in zip(elements(un, dtype), elements(np, dtype), strict=True):
            if name == "floordiv" and dtype.startswith("float") and b_np == 0:
                continue  # the array API's quotient
            assert outcome(f, a, b) == outcome(f, a_np, b_np), (name, a_np, b_np)


@pytest.mark.parametrize(
    "dtype", [d for d in dtypes if d not in ("float16", "complex64", "complex128")]
)
@pytest.mark.parametrize("name", binary)
def test_a_value_and_a_number(name, dtype):
    f = getattr(operator, name)
    for a, a_np in zip(elements(un, dtype), elements(np, dtype), strict=True):
        for b in numbers:
            if name == "floordiv" and (isinstance(b, float) or dtype.startswith("float")):
                continue  # the array API's quotient
            if name == "pow" and isinstance(b, float):
                continue  # bits of powers are ours
            assert outcome(f, a, b) == outcome(f, a_np, b), (name, a_np, b)
            if dtype == "int64" and isinstance(b, (bool, float)):
                continue  # the value is an int, which Python's own number on the left takes as one
            if name != "pow":
                assert outcome(f, b, a) == outcome(f, b, a_np), (name, b, a_np)


@pytest.mark.parametrize("dtype", dtypes)
def test_one_value(dtype):
    functions = [operator.neg, operator.invert, abs, bool, hash, operator.index]
    functions += [int, float] if not dtype.startswith("complex") else [complex]
    for a, a_np in zip(elements(un, dtype), elements(np, dtype), strict=True):
        for f in functions:
            assert outcome(f, a) == outcome(f, a_np), (f, a_np)


@pytest.mark.parametrize(
    "index_dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_values_index(index_dtype):
    def body(xp):
        a = xp.array(np.arange(42.0).reshape(6, 7))
        i = xp.array(np.array([3, 5, 0]).astype(index_dtype))
        got = [
            a[i[0], i[1]],
            a[i[0]][i[1]],
            a[i[2] : i[1], i[0]],
            a[i[0], : i[1]],
            a[i[1] :: -1, 2],
        ]
        got += [a[i[0] : i[0]], a[:: i[0], i[1] :]]
        a[i[0], i[1]] = 100
        a[i[2] : i[0], i[1]] = -1
        a[i[1]] += a[i[0]]
        return got + [a]

    for made, wanted in zip(body(un), body(np), strict=True):
        np.testing.assert_array_equal(np.asarray(made), wanted)
        assert made.shape == wanted.shape


@pytest.mark.parametrize(
    "key", [(0, 7), (-7, 0), 6, -7, (6, slice(None)), (0, 0, 0), (slice(0), -8)]
)
def test_indices_out_of_range(key):
    for xp in (np, un):
        a = xp.array(np.arange(42).reshape(6, 7))
        with pytest.raises(IndexError):
            a[key]
        with pytest.raises(IndexError):
            a[key] = 1
        i = xp.array([100, -100])
        with pytest.raises(IndexError):
            a[i[0], 0]
        with pytest.raises(IndexError):
            a[0, i[1]] = 0


@pytest.mark.parametrize("dtype", dtypes)
def test_elements_are_written(dtype):
    values = [3, -1, 200, 2**33, 1.5, True, np.float64(2.5), np.int8(-3), np.uint8(200)]
    for value in values:
        results = []
        for xp in (np, un):
            a = xp.array(np.arange(6).reshape(2, 3).astype(dtype))
            own = xp.array(value)[()]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    a[1, 2] = value
                    a[0] = value
                    a[-1, -3] = own
                    results.append(np.asarray(a).tobytes())
                except (OverflowError, TypeError) as e:
                    results.append(type(e))
        assert results[0] == results[1], value


def test_read_only_elements_stay():
    for xp in (np, un):
        a = xp.arange(4.0)
        a.setflags(write=False)
        with pytest.raises(ValueError):
            a[1] = 2.0
        assert a[1] == 1.0


@pytest.mark.parametrize("start", [None, 0, 2, -2, 9, -9])
@pytest.mark.parametrize("stop", [None, 0, 3, -1, 9, -9])
@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
def test_slices(start, stop, step):
    key = slice(start, stop, step)
    a = np.arange(30).reshape(5, 6)
    b = un.array(a)
    for k in (key, (key, 2), (3, key), (key, key), (None, key, 1)):
        made = b[k]
        np.testing.assert_array_equal(np.asarray(made), a[k])
        assert made.shape == a[k].shape
        first, second = a.copy(), un.array(a)
        first[k], second[k] = 7, 7
        np.testing.assert_array_equal(np.asarray(second), first)


def test_values_are_checked_in_errstate():
    a = un.array([1.0, 0.0])
    with un.errstate(all="raise"):
        for wrong in (lambda: a[0] / a[1], lambda: 1e300 * a[0] * 1e300, lambda: a[1] / a[1]):
            with pytest.raises(FloatingPointError):
                wrong()
        assert a[0] + a[1] == 1.0
    with un.errstate(all="ignore"):
        assert a[0] / a[1] == np.inf


@pytest.mark.parametrize("exponent", [2.0, 1.0, 0.5, -1.0, 3.0])
def test_powers_of_numpy_floats_promote(exponent):
    x = np.array([2.0, 3.0], dtype="float32")
    for e in (exponent, np.float64(exponent), np.float32(exponent)):
        assert (un.array(x) ** e).dtype.name == (x**e).dtype.name
        assert (un.array(x)[0] ** e).dtype.name == (x[0] ** e).dtype.name
