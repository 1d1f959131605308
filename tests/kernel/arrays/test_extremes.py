"""argmin and argmax in compiled code: NumPy's places, whatever the length, the type and the layout."""

import numpy as np
import pytest
import unisono as un


@un.jit
def lowest(x):
    return np.argmin(x)


@un.jit
def highest(x):
    return x.argmax()


@un.jit
def computed(x, y):
    return np.argmax(abs(x - y)), np.argmin((x + y) * 2)


@un.jit
def along_last(x):
    return np.argmin(x, axis=-1), np.argmax(x * 2, axis=1)


@un.jit
def along_first(x):
    return np.argmin(x, axis=0), np.argmax(x, axis=0)


dtypes = [np.float64, np.float32, np.int64, np.uint8, np.int16, bool]


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 511, 512, 513, 1500])
def test_first_of_equal_ones(n, dtype):
    rng = np.random.default_rng(n)
    for most in (2, 50):
        x = rng.integers(0, most, n).astype(dtype)
        for part in (x, x[::-1], np.repeat(x, 2)[::2]):
            assert lowest(part) == np.argmin(part)
            assert highest(part) == np.argmax(part)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 5, 40, 512, 600, 1500])
def test_nan_and_signed_zeros(n, dtype):
    rng = np.random.default_rng(n)
    for _ in range(20):
        x = rng.standard_normal(n).astype(dtype)
        x[rng.integers(0, n, 3)] = np.nan
        assert lowest(x) == np.argmin(x) and highest(x) == np.argmax(x)
        x = np.where(rng.integers(0, 2, n), dtype(0.0), dtype(-0.0))
        assert lowest(x) == np.argmin(x) and highest(x) == np.argmax(x)
        x = np.full(n, -np.inf, dtype)
        assert lowest(x) == 0 and highest(x) == 0


@pytest.mark.parametrize("n", [1, 3, 100, 513, 2000])
def test_expressions(n):
    rng = np.random.default_rng(n)
    x, y = rng.random(n), rng.random(n)
    assert computed(x, y) == computed.py_func(x, y)


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 33), (5, 700), (600, 2)])
def test_axes(shape, dtype):
    x = np.random.default_rng(5).integers(0, 40, shape).astype(dtype)
    for part in (x, x[::-1, ::2], np.asfortranarray(x)):
        assert lowest(part) == np.argmin(part) and highest(part) == np.argmax(part)
        for function in (along_last, along_first):
            if function is along_last and dtype is bool:
                continue
            for got, want in zip(function(part), function.py_func(part), strict=True):
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [lowest, highest])
def test_of_nothing(function):
    with pytest.raises(ValueError, match="attempt to get arg(min|max) of an empty sequence"):
        function(np.zeros(0))


def test_blocks_are_searched_in_lanes():
    highest(np.zeros(3))
    assert (
        "<8 x double>" in highest.inspect_llvm()
        or "<4 x double>" in highest.inspect_llvm()
        or "<2 x double>" in highest.inspect_llvm()
    )


def test_functions_of_tuples_and_arrays():
    @un.jit
    def both(x, t=(1, 0, 1)):
        return np.bitwise_and(t, x), np.maximum(x, t), (t == np.bitwise_and(t, x)).all()

    for x in (np.array([True, False, True]), np.array([3, 4, 5])):
        for got, want in zip(both(x), both.py_func(x), strict=True):
            assert np.asarray(got).dtype == want.dtype
            np.testing.assert_array_equal(got, want)
    assert "python_block" not in both.inspect_llvm()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_places_in_short_rows(dtype):
    @un.jit
    def places(x, most, least):
        for i in range(x.shape[0]):
            most[i] = np.argmax(x[i])
            least[i] = (x[i] + x[i]).argmin()

    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 16, 17):
        x = rng.integers(0, 4, (200, n)).astype(dtype)
        if x.dtype.kind == "f":
            x[rng.random(x.shape) < 0.1] = np.nan
            x[rng.random(x.shape) < 0.1] = -0.0
        most, least = np.zeros(200, int), np.zeros(200, int)
        places(x, most, least)
        np.testing.assert_array_equal(most, x.argmax(axis=1))
        np.testing.assert_array_equal(least, (x + x).argmin(axis=1))
