"""Arrays that prange combines by min and max or into new ones; what atomics refuse."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


def test_arrays_combined_by_min_and_max(on):
    @un.jit(device=on)
    def f(a, keys, low, high):
        for i in un.prange(len(a)):
            low[keys[i]] = min(low[keys[i]], a[i])
            high[keys[i]] = max(a[i], high[keys[i]])

    rng = np.random.default_rng(0)
    a, keys = rng.standard_normal(5000), rng.integers(0, 5, 5000)
    low, high = np.full(5, np.inf), np.full(5, -np.inf)
    f(a, keys, low, high)
    want_low, want_high = np.full(5, np.inf), np.full(5, -np.inf)
    np.minimum.at(want_low, keys, a)
    np.maximum.at(want_high, keys, a)
    assert np.array_equal(low, want_low) and np.array_equal(high, want_high)
    assert "array low (min)" in f.parallel_report().replace("minimum", "min")


def test_arrays_combined_as_a_whole_are_new_ones(on):
    @un.jit(device=on)
    def f(a, start):
        high = start
        total = start
        for i in un.prange(a.shape[0]):
            high = np.maximum(high, a[i])
            total = total + a[i]
        return high, total

    a = np.random.default_rng(0).integers(-9, 9, (300, 7)).astype(float)
    start = np.zeros(7)
    high, total = f(a, start)
    assert np.array_equal(high, np.maximum(a.max(0), 0)) and np.array_equal(total, a.sum(0))
    assert start.tolist() == [0.0] * 7


def test_an_array_that_becomes_another_type_is_refused(on):
    @un.jit(device=on)
    def f(a):
        high = np.zeros(3, np.int64)
        for i in un.prange(a.shape[0]):
            high = np.maximum(high, a[i])
        return high

    with pytest.raises(un.CompileError, match="becomes float64"):
        f(np.ones((2, 3)))


def test_an_item_combined_by_two_operations_is_no_reduction(on):
    @un.jit(device=on)
    def f(a, out):
        for i in un.prange(len(a)):
            out[0] = max(out[0], a[i])
            out[0] += 1

    with pytest.raises(un.CompileError, match="the same element of 'out'|reads what another"):
        f(np.ones(3), np.zeros(1))


def test_atomics_of_complex_arrays_are_refused(on):
    @un.jit(device=on)
    def f(a):
        for _ in un.prange(3):
            un.atomic.add(a, 0, 1.0)

    with pytest.raises(un.CompileError, match="change a.real and a.imag"):
        f(np.zeros(1, complex))
