"""Small loops that stay scalar run several iterations between two branches back: for any count of them, and up to the one that fails."""

import re

import numpy as np
import pytest
import unisono as un


@un.jit(nopython=True)
def count(values, bins):
    for i in range(values.size):
        bins[values[i]] += 1


@un.jit(nopython=True)
def histogram(x, low, scale, bins):
    for v in x:
        k = int((v - low) * scale)
        if 0 <= k < bins.size:
            bins[k] += 1


@un.jit(nopython=True)
def largest(values, bins):
    best = 0
    for i in range(values.size):
        bins[values[i]] += 1
        best = max(best, bins[values[i]])
    return best


@un.jit(nopython=True)
def first_above(x, limit, seen):
    for i in range(x.size):
        seen[i] += 1
        if x[i] > limit:
            return i
    return -1


def updates(compiled):
    """Additions of one to an element in the generated code."""
    return len(re.findall(r"= add (?:nsw |nuw )*i64 %\S+, 1\n\s+store", compiled.inspect_llvm()))


@pytest.mark.parametrize("n", [*range(12), 63, 64, 65, 1001])
def test_any_number_of_iterations(n):
    values = np.random.default_rng(n).integers(0, 7, n).astype(np.uint8)
    bins = np.zeros(7, np.int64)
    count(values, bins)
    np.testing.assert_array_equal(bins, np.bincount(values, minlength=7))
    x = np.linspace(-4, 4, n)
    bins = np.zeros(6, np.int64)
    histogram(x, -3.0, 1.0, bins)
    np.testing.assert_array_equal(bins, histogram_of(x))


def histogram_of(x):
    bins = np.zeros(6, np.int64)
    histogram.py_func(x, -3.0, 1.0, bins)
    return bins


def test_several_iterations_stand_together():
    count(np.zeros(3, np.uint8), np.zeros(7, np.int64))
    assert updates(count) >= 4


def test_chains_of_iterations_stay_as_they_are():
    largest(np.zeros(3, np.uint8), np.zeros(7, np.int64))
    assert updates(largest) == 1


@pytest.mark.parametrize("wrong", range(9))
def test_the_iteration_that_fails_is_the_last(wrong):
    values = np.arange(9, dtype=np.uint8) % 5
    values[wrong] = 5
    bins, wanted = np.zeros(5, np.int64), np.zeros(5, np.int64)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        count(values, bins)
    for v in values[:wrong]:
        wanted[v] += 1
    np.testing.assert_array_equal(bins, wanted)
    x = np.linspace(0, 4, 9)
    x[wrong] = np.nan
    bins = np.zeros(6, np.int64)
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        histogram(x, 0.0, 1.0, bins)
    np.testing.assert_array_equal(bins, np.bincount(x[:wrong].astype(int), minlength=6))


@pytest.mark.parametrize("place", range(9))
def test_loops_end_where_they_find(place):
    x = np.zeros(9)
    x[place] = 1.0
    seen = np.zeros(9, np.int64)
    assert first_above(x, 0.5, seen) == place
    assert seen.sum() == place + 1
