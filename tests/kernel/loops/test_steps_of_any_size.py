"""Loops whose step is a variable: their index tests stand in front of them where the step is positive."""

import numpy as np
import pytest
import unisono as un


@un.njit
def cross_out(n):
    flags = np.ones(n, np.bool_)
    k = 2
    while k * k < n:
        if flags[k]:
            for j in range(k * k, n, k):
                flags[j] = False
        k += 1
    return flags


@un.njit
def mark(a, first, end, step):
    for j in range(first, end, step):
        a[j] += 1


def test_positive_steps_take_the_loop_without_index_tests():
    assert cross_out(100)[2:].nonzero()[0].size == 25
    assert cross_out.inspect_llvm().count("store i8 0") > 1  # with tests, and without


@pytest.mark.parametrize(
    "bounds", [(0, 9, 2), (8, -1, -3), (-1, -10, -1), (-9, 9, 4), (3, 3, 1), (5, 2, 7)]
)
def test_elements_of_either_direction(bounds):
    got, want = np.zeros(9), np.zeros(9)
    mark(got, *bounds)
    mark.py_func(want, *bounds)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("bounds", [(0, 10, 3), (8, -12, -1), (9, 10, 1)])
def test_indices_beyond_the_ends(bounds):
    a = np.zeros(9)
    with pytest.raises(IndexError):
        mark(a, *bounds)
    with pytest.raises(ValueError, match="must not be zero"):
        mark(a, 0, 9, 0)
