"""Rows whose elements are updated by what lies before them: strips of lanes give the bits of one element after the other."""

import numpy as np
import pytest
import unisono as un


@un.jit
def pairs(a, b):
    return 1 if a + b == 3 else 0


def folded(t, seq):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            t[i, j] = max(t[i, j], t[i, j - 1])
            if i + 1 < n:
                t[i, j] = max(t[i, j], t[i + 1, j])
                if i < j - 1:
                    t[i, j] = max(t[i, j], t[i + 1, j - 1] + pairs(seq[i], seq[j]))
                else:
                    t[i, j] = max(t[i + 1, j - 1], t[i, j])
            for k in range(i + 1, j):
                t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])


def cheapest(t, seq):
    n = seq.shape[0]
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            t[i, j] = 120
            for k in range(i, j):
                t[i, j] = min(t[i, j], t[i, k] + t[k + 1, j] + seq[i] * seq[k] * seq[j])


def counted(t, seq):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i, n):
            t[i, j] += seq[j]
            for k in range(i + 1, j + 1):
                t[i, j] += t[i, k - 1] * t[k, j]
            t[i, j] = t[i, j] % 101


def lower_upper(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def before_it(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(1, i):
            a[i, j] = a[i, j] * 0.5 + a[i, j - 1]
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]


def added_first(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(1, i):
            a[i, j] += a[i, j - 1] * 0.3
            for k in range(j):
                a[i, j] += a[i, k] * a[k, j]


def old_value(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            old = a[i, j]
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] = a[i, j] * 0.5 + old


def held_values(t, seq):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            first = t[i, j]
            if seq[j] > seq[i]:
                t[i, j] = min(first, t[i, j - 1] + seq[j])
            t[i, j] = min(t[i, j], first + seq[i])
            for k in range(i + 1, j):
                t[i, j] = min(t[i, j], t[i, k] + t[k + 1, j])
            if t[i, j] > 90:
                t[i, j] -= seq[j]
            last = t[i, j]
            t[i, j] = last + (last & 1)


def behind_it(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] += a[i, j + 1] * 0.25


def ahead_of_it(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] = a[i, k + 1] * a[k, j] - a[i, j]


def same_row(a):
    n = a.shape[0]
    for i in range(n - 1):
        for j in range(i + 1):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k + 1, j]


def apart(a, b):
    n = min(a.shape[0], b.shape[0])
    for i in range(n):
        for j in range(n):
            for k in range(j):
                a[i, j] -= a[i, k] * b[k, j]
            b[i, 0] += 0.5


def shared(a, b):
    n = min(a.shape[0], b.shape[0])
    for i in range(n):
        for j in range(n):
            for k in range(j):
                a[i, j] -= a[i, k] * b[k, j]


SIZES = (0, 1, 2, 7, 8, 9, 16, 31, 40, 67)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64"])
@pytest.mark.parametrize("program", [folded, cheapest, counted, held_values])
def test_tables_that_fill_row_by_row(program, dtype):
    compiled = un.jit(program)
    rng = np.random.default_rng(5)
    for n in SIZES[:-1] if dtype in ("int32", "int64") else (9, 31):
        seq = rng.integers(0, 4, n).astype(dtype)
        start = rng.integers(0, 5, (n, n)).astype(dtype)
        if program is cheapest and dtype == "uint8":
            continue
        if program is held_values and start.dtype.kind == "f":
            continue
        want, got = start.copy(), start.copy()
        with np.errstate(all="ignore"):
            program(want, seq)
        compiled(got, seq)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "program",
    [lower_upper, before_it, added_first, old_value, behind_it, ahead_of_it, same_row],
    ids=lambda p: p.__name__,
)
def test_rows_of_floats_keep_the_order_of_their_terms(program, dtype):
    compiled = un.jit(program)
    rng = np.random.default_rng(6)
    for n in SIZES:
        start = rng.standard_normal((n + 1, n + 1)).astype(dtype) * 0.25 + np.eye(
            n + 1, dtype=dtype
        )
        for got in (
            start.copy(),
            np.asfortranarray(start),
            np.repeat(start, 2, 1)[:, ::2],
            start[::-1].copy()[::-1],
        ):
            want = got.copy()
            with np.errstate(all="ignore"):
                program(want)
            compiled(got)
            assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("program", [apart, shared], ids=lambda p: p.__name__)
def test_rows_that_meet_what_they_read(program):
    compiled = un.jit(program)
    rng = np.random.default_rng(7)
    memory = rng.standard_normal(3000) * 0.1
    for n in (5, 17, 33):
        for shift in (0, 1, 7, n, 3 * n, n * n, n * n + 5):
            want, got = memory.copy(), memory.copy()
            views = [
                (x[: n * n].reshape(n, n), x[shift : shift + n * n].reshape(n, n))
                for x in (want, got)
            ]
            with np.errstate(all="ignore"):
                program(*views[0])
            compiled(*views[1])
            assert got.tobytes() == want.tobytes()


def test_rows_of_a_stride_shorter_than_they_are():
    compiled = un.jit(lower_upper)
    for stride in (1, 2, 5, 11):
        want = np.random.default_rng(8).standard_normal(400) * 0.1 + 1.0
        got = want.copy()
        program = [
            np.lib.stride_tricks.as_strided(x, (20, 20), (stride * 8, 8)) for x in (want, got)
        ]
        with np.errstate(all="ignore"):
            lower_upper(program[0])
        compiled(program[1])
        assert got.tobytes() == want.tobytes()
