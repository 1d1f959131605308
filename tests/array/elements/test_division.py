"""Quotients by a number: a power of two is multiplied by its reciprocal, with the bits of the division."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

DIVISORS = [1, 2, -4, 0.5, -(2.0**-20), 2.0**100, 3, 0.1, 0, float("inf"), float("nan"), 2.0**127]
DIVISORS += [2.0**126, 2.0**-126, 2.0**-127, 2.0**1022, 2.0**1023, 2.0**-1022, 2.0**-1074]


def numbers(dtype):
    """Ordinary, subnormal and special numbers."""
    rng = np.random.default_rng(3)
    few = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, few.max, few.tiny, few.smallest_subnormal]
    subnormal = few.tiny * rng.random(50).astype(dtype)
    wide = rng.standard_normal(2000) * 2.0 ** rng.integers(few.minexp, few.maxexp, 2000)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([np.array(special, dtype), subnormal, wide.astype(dtype)])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_bits_of_quotients(divisor, dtype):
    host = numbers(dtype)
    with np.errstate(all="ignore"):
        wanted = host / divisor
        in_place = host.copy()
        in_place /= divisor
    y = un.asarray(host)
    y /= divisor
    for got, want in [(un.asarray(host) / divisor, wanted), (y, in_place)]:
        assert got.dtype == want.dtype
        assert np.array_equal(np.asarray(got), want, equal_nan=True)
        assert np.array_equal(np.signbit(got)[want == 0], np.signbit(want)[want == 0])


@pytest.mark.parametrize(("divisor", "op"), [(8, "mul"), (3, "div"), (2.0**-1074, "div")])
def test_only_exact_reciprocals_are_multiplied_by(divisor, op):
    x = un.asarray(np.arange(5000.0))
    assert f"= {op} %" in un.explain(x / divisor)
    assert "= div %" in un.explain(divisor / (x + 1))


def test_integers_and_complex_numbers_divide_as_before():
    n, c = np.arange(-2500, 2500), np.arange(5000) * (1 - 2j)
    assert np.array_equal(np.asarray(un.asarray(n) / 4), n / 4)
    assert np.array_equal(np.asarray(un.asarray(n) // 4), n // 4)
    assert np.array_equal(np.asarray(un.asarray(c) / 4), c / 4)
    with un.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        un.eval(un.asarray([1e308, 1.0]) / 0.25)


def test_quotients_at_indices_are_those_of_arrays():
    a = un.asarray([np.inf, 1, np.inf, -np.inf, 5])
    b = un.asarray([5, 0, 0, 2, np.inf])
    for dtype in ("float16", "float32", "float64"):
        x, y = a.astype(dtype), b.astype(dtype)
        expected = un.floor_divide(x, y)
        un.floor_divide.at(x, un.arange(5), y)
        np.testing.assert_array_equal(np.asarray(x), np.asarray(expected))
