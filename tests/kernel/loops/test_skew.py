"""Rows that wait for their elements run several at a time: bits, stores and faults as written."""

import numpy as np
import pytest
import unisono as un
from layouts import layouts, numbers


def relaxed(a, n, sweeps):
    for _ in range(sweeps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2]
                + a[i - 1, 1:-1]
                + a[i - 1, 2:]
                + a[i, 2:]
                + a[i + 1, :-2]
                + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


def filtered(a, b, w):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            t = b[i, j] * w
            a[i, j] = t + a[i, j - 1] * (1.0 - w)


@pytest.mark.parametrize("n", [3, 4, 6, 7, 19, 20, 21, 45])
def test_sweeps_over_rows_have_the_bits_of_the_loops(n):
    compiled = un.jit(relaxed)
    for layout, a in enumerate(layouts((n, n), 1)):
        want = a.copy()
        relaxed(want, n, 3)
        compiled(a, n, 3)
        assert a.tobytes() == want.tobytes(), layout


def test_rows_that_overlap_or_do_not_fit_run_one_after_the_other():
    compiled = un.jit(relaxed)
    for distance in (8, 16, 24, 25, 26, 30):
        results = []
        for function in (relaxed, compiled):
            memory = numbers(30 * 30, 2)
            function(np.lib.stride_tricks.as_strided(memory, (25, 25), (8 * distance, 8)), 25, 2)
            results.append(memory.tobytes())
        assert results[0] == results[1], distance
    for shape in [(20, 30), (30, 20)]:
        stored = []
        for function in (relaxed, compiled):
            a = numbers(shape, 3)
            try:
                function(a, 30, 1)
                error = None
            except (IndexError, ValueError) as e:
                error = type(e)
            stored.append((a.tobytes(), error))
        assert stored[0] == stored[1], shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 50), (4, 8), (17, 33), (40, 2)])
def test_filters_along_rows(shape, dtype):
    compiled = un.jit(filtered)
    a, b = numbers(shape, 4).astype(dtype), numbers(shape, 5).astype(dtype)
    want = a.copy()
    filtered(want, b, 0.25)
    compiled(a, b, 0.25)
    assert a.tobytes() == want.tobytes()
    memory = numbers(4000, 6)
    results = []
    for function in (filtered, compiled):
        copy = memory.copy()
        function(copy[:2000].reshape(40, 50), copy[20:2020].reshape(40, 50), 0.5)
        results.append(copy.tobytes())
    assert results[0] == results[1]


def made_of(offsets):
    (p1, q1), (p2, q2), (p3, q3), (p4, q4), (_, q5) = offsets

    def two_loops(a, n):
        for i in range(2, n):
            for j in range(2, n):
                a[i + p1, j + q1] = a[i, j + q5] * 0.5 + a[i + p2, j + q2]
            for k in range(2, n):
                a[i + p3, k + q3] += a[i + p4, k + q4] * 0.25 - a[i, k - 1]

    return two_loops


def test_distances_of_all_kinds():
    picks = np.random.default_rng(7)
    for _ in range(60):
        offsets = [tuple(int(v) for v in picks.integers(-2, 3, 2)) for _ in range(5)]
        if picks.integers(0, 2):
            offsets[0] = offsets[2] = (0, 0)
            offsets[1] = (-1, offsets[1][1])
            offsets[3] = (int(picks.choice([-2, -1, 1])), offsets[3][1])
            offsets[4] = (0, abs(offsets[4][1]))
        function = made_of(offsets)
        a = numbers((29, 31), 8)
        want = a.copy()
        function(want, 27)
        un.jit(function)(a, 27)
        assert a.tobytes() == want.tobytes(), offsets


def steps_of_several_rows(a, b, n):
    for i in range(1, n):
        b[i, 1:n] = a[i - 1, : n - 1] * 2.0 + b[i - 1, 1:n]
        for j in range(1, n):
            a[i, j] = a[i, j - 1] + b[i, j] * a[i - 1, j]


def test_several_arrays():
    a, b = numbers((30, 30), 9) * 0.1, numbers((30, 30), 10) * 0.1
    others = a.copy(), b.copy()
    steps_of_several_rows(*others, 30)
    un.jit(steps_of_several_rows)(a, b, 30)
    assert a.tobytes() == others[0].tobytes()
    assert b.tobytes() == others[1].tobytes()
