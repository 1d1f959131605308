"""Indices that the condition of a while loop says something about: elements, negative indices and faults are Python's."""

import numpy as np
import pytest
import unisono as un


def inserted(x, start):
    for i in range(start, x.shape[0]):
        k = x[i]
        j = i - 1
        while j >= 0 and x[j] > k:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = k
    return 0


def downwards(x, start):
    j = start
    total = 0.0
    while j >= -2:
        total += x[j] * (j + 3)
        j -= 1
    return total


def upwards(x, start):
    j = start
    while x[j] < 0.9:
        if j >= 0:
            x[j] += 0.25
        j += 1
    return j


def between(x, start):
    low = start
    high = x.shape[0]
    while low < high:
        middle = (low + high) // 2
        if x[middle] < 0.5:
            low = middle + 1
        else:
            high = middle
    return low


def not_below(x, start):
    j = start
    while j != 3:
        if j < 0:
            x[j] = 7.0
        elif j < 5:
            x[j] -= x[j - 1]
        j += 1
    return j


@pytest.mark.parametrize(
    "program", [inserted, downwards, upwards, between, not_below], ids=lambda p: p.__name__
)
def test_while_loops_over_indices(program):
    compiled = un.jit(program)
    for n in (0, 1, 2, 3, 9, 40):
        for start in (-3, -1, 0, 1, 2, n - 1):
            if program is not_below and start > 3:
                continue
            want = np.random.default_rng(n).random(n)
            got = want.copy()
            results = []
            for f, x in ((program, want), (compiled, got)):
                try:
                    results.append(f(x, start))
                except IndexError as e:
                    results.append(str(e))
            assert results[0] == results[1], (n, start)
            assert got.tobytes() == want.tobytes()
