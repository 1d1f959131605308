"""Floor division and remainders of integers, which vectors compute by floating-point numbers: NumPy's, bit for bit."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def check(x, y):
    ours = un.asarray(x), un.asarray(y)
    with np.errstate(all="ignore"):
        expected = x // y, x % y
    np.testing.assert_array_equal(np.asarray(ours[0] // ours[1]), expected[0], strict=True)
    np.testing.assert_array_equal(np.asarray(ours[0] % ours[1]), expected[1], strict=True)


def edges(dtype):
    info = np.iinfo(dtype)
    numbers = {0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.max // 2, info.min, info.min + 1}
    numbers |= {(1 << k) + d for k in (15, 20, 31, 32, 49, 50, 51, 53, 62) for d in (-1, 0, 1)}
    numbers |= {-n for n in numbers}
    return np.asarray(sorted(n for n in numbers if info.min <= n <= info.max), dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_all_pairs(dtype):
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1).astype(dtype)
    check(np.repeat(every, every.size), np.tile(every, every.size))
    for divisor in every:
        check(every, divisor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_edges(dtype):
    x = edges(dtype)
    check(np.repeat(x, x.size), np.tile(x, x.size))
    for divisor in x:
        check(np.tile(x, 40), divisor)
        check(np.full(x.size, divisor), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_of_multiples(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    for divisor in edges(dtype).tolist():
        if divisor == 0:
            continue
        factors = rng.integers(max(info.min, -(2**40)), min(info.max, 2**40), 300).tolist()
        products = [
            f * divisor // (1 << k) * (1 << k) + d
            for f in factors
            for k in (0, 3)
            for d in (-1, 0, 1)
        ]
        x = np.asarray([p for p in products if info.min <= p <= info.max] or [0], dtype)
        check(x, np.asarray(divisor, dtype)[()])
        check(x, np.full(x.size, divisor, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_numbers(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(4)
    for most in (9, 2**15 - 1, 2**31 - 1, 2**50 - 1, 2**50, 2**63 - 1):
        for most_of_divisors in (9, 2**31 - 1, 2**50 + 3):
            x = rng.integers(max(info.min, -most), min(info.max, most), 3000, dtype, True)
            y = rng.integers(
                max(info.min, -most_of_divisors), min(info.max, most_of_divisors), 3000, dtype, True
            )
            check(x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_and_cubes(dtype):
    x = np.arange(-50, 50).astype(dtype)
    ours = un.asarray(x.copy())
    ours //= 7
    np.testing.assert_array_equal(np.asarray(ours), x // np.asarray(7, dtype), strict=True)
    np.testing.assert_array_equal(np.asarray(un.asarray(x) ** 3), x**3, strict=True)


def test_places_in_bools():
    for n in (1, 5, 1000, 70_000):
        for true in ([], [0], [n - 1], [n // 2, n - 1], range(n)):
            x = np.zeros(n, bool)
            x[list(true)] = True
            a = un.asarray(x)
            assert a.argmax() == x.argmax() and a.argmin() == x.argmin()
            assert a[::-1].argmax() == x[::-1].argmax()
    x = np.random.default_rng(0).random((50, 30)) > 0.9
    for axis in (0, 1):
        np.testing.assert_array_equal(
            np.asarray(un.asarray(x).argmax(axis)), x.argmax(axis), strict=True
        )


def test_types_of_results():
    for xp in (np, un):
        a = xp.asarray([[1.0, 0], [0, 2]])
        rank = xp.linalg.lstsq(a, xp.ones(2), rcond=None)[2]
        assert rank == 2 and rank.dtype == "int32"
        assert isinstance(xp.histogramdd(a, 2)[1], list)
        assert xp.roots([1, 0, -1]).dtype == "float64" and xp.roots([1, 0, 1]).dtype == "complex128"
        roots = np.asarray(xp.roots([1, 0, 1]))  # of real parts near 0 of either sign
        np.testing.assert_allclose(roots, [1j, -1j], atol=1e-15)
        rng = xp.random.default_rng(0)
        assert rng.integers(5, size=2, dtype="u1").dtype == "uint8"
        assert rng.random(2, dtype="f").dtype == "float32"
