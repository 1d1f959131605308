"""Ranges in names, integers that join floats, and prange under an `if` that all iterations decide alike."""

import numpy as np
import pytest
import unisono as un


def ranges(n, forward):
    if forward:
        r = range(n)
    else:
        r = range(n - 1, -1, -2)
    s = 0
    for i in r:
        s = s * 3 + i
    steps = range(2, 9)
    return s, len(r), list(steps), sum(r)


@pytest.mark.parametrize("forward", [True, False])
def test_ranges_are_held_in_names(forward):
    assert un.jit(ranges)(5, forward) == ranges(5, forward)


def branches(a, b, k, n):
    for j in un.prange(1, n):
        if k % 2 == 0:
            a[j] = b[j - 1] + 1
        else:
            b[j] = a[j - 1] + 2


def test_branches_that_exclude_each_other_do_not_meet():
    f = un.jit(branches, parallel=True)
    a, b = np.arange(10.0), np.ones(10)
    c, d = a.copy(), b.copy()
    for k in range(2):
        f(a, b, k, 10)
        branches(c, d, k, 10)
    assert np.array_equal(a, c) and np.array_equal(b, d)


def numbers(k, c):
    best = k[0]
    if c:
        best = k[1] * 0.5
    worst = -1.0
    for i in range(len(k)):
        if k[i] > worst:
            worst = k[i]
    return best, worst


@pytest.mark.parametrize("c", [True, False])
def test_integers_of_arrays_join_floats(c):
    k = np.array([3, 4, 2])
    assert un.jit(numbers)(k, c) == numbers(k, c)
