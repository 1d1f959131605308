"""Remainders whose operands loops bound: periodic neighbours need no division."""

import re

import numpy as np
import pytest
import unisono as un


@un.jit
def neighbours(a, out):
    n = a.shape[0]
    for k in range(n):
        out[k] = a[(k + 1) % n] - 2 * a[k % n] + 3 * a[(k - 1) % n]


@un.jit
def convolution(a, out):
    n = len(a)
    for i in range(n):
        for j in range(n):
            out[i] += a[(i + j) % n] * a[(i - j) % n] + a[(i + j + 1) % n]


@un.jit
def torus(a, out):
    n, m = a.shape
    for i in un.prange(n):
        for j in range(m - 1, -1, -1):
            out[i, j] = (
                a[(i + 1) % n, j] + a[(i - 1) % n, j] - a[i, (j + 1) % m] - a[i, (j - 1) % m]
            )


@un.jit
def far(a, out):
    """Beyond one step: the remainder is computed."""
    n = a.shape[0]
    for k in range(n):
        out[k] = (
            a[(k + 2) % n] - 2 * a[(k - 3) % n] + a[(3 * k) % n] + a[(k - 2 * n) % n] + a[(-k) % n]
        )


@un.jit
def of_numbers(a, out, n, shift):
    for k in range(n):
        out[k] = a[(k + 1) % n] + a[(k + shift) % n] + (k - 7) % 5 + (k + n) % -3


@un.jit
def under_conditions(a, out):
    n = a.shape[0]
    for k in range(2 * n):
        if k >= n:
            out[k % n] += a[(k - n) % n] - (k - 2 * n) % n
        else:
            out[k % n] += a[k] + (k + n) % n


def outcome(function, a, *more):
    out = np.zeros_like(a)
    function(a, out, *more)
    return out


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 40])
@pytest.mark.parametrize("function", [neighbours, convolution, far, under_conditions])
def test_vectors(function, n):
    a = np.random.default_rng(n).integers(-50, 50, n).astype(float)
    np.testing.assert_array_equal(outcome(function, a), outcome(function.py_func, a))


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 5), (2, 2), (13, 7)])
def test_matrices(shape):
    a = np.random.default_rng(1).integers(-50, 50, shape).astype(float)
    np.testing.assert_array_equal(outcome(torus, a), outcome(torus.py_func, a))


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("shift", [-9, -1, 0, 1, 2**63 - 1])
def test_numbers(n, shift):
    a = np.random.default_rng(2).integers(-50, 50, n).astype(float)
    wrapped = np.array([np.int64(k) for k in range(n)])
    with np.errstate(over="ignore"):
        places = (wrapped + np.int64(shift)) % n  # what 64 bits hold
    expected = [a[(k + 1) % n] + a[places[k]] + (k - 7) % 5 + (k + n) % -3 for k in range(n)]
    np.testing.assert_array_equal(outcome(of_numbers, a, n, shift), expected)


@pytest.mark.parametrize("function", [neighbours, torus])
def test_periodic_neighbours_are_found_without_division(function):
    a = np.ones((4, 4)) if function is torus else np.ones(4)
    outcome(function, a)
    text = function.inspect_llvm()
    assert "load double" in text
    assert "srem" not in text


def divided(a, b, out):
    for k in range(a.shape[0]):
        out[k] = (a[k] // b) * 3 + a[k] % b


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("divisor", [-1, 1, -2, 7, -7, 127])
def test_divisors_that_loops_do_not_change(dtype, divisor):
    low = np.iinfo(dtype).min
    a = np.array([low, low + 1, -14, -7, -1, 0, 1, 6, 7, -(low + 1)], dtype)
    f = un.njit(divided)
    out, expected = np.zeros_like(a), np.zeros_like(a)
    f(a, dtype(divisor), out)
    with np.errstate(over="ignore"):
        divided(a, dtype(divisor), expected)
    np.testing.assert_array_equal(out, expected)
    # The one quotient that overflows is known by its divisor, which is tested once.
    assert not re.search(rf"icmp eq .*%[^,]*, {low}$", f.inspect_llvm(), re.MULTILINE)
