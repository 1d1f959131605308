"""Loops that always run a few times: their iterations, one after the other, are what the loop was."""

import numpy as np
import pytest
import unisono as un


@un.jit
def weight(d, e):
    if d == 0:
        return 2.0
    return 1.0 / (d * d + e)


def neighbours(g, h):
    n, m = g.shape
    for i in range(n):
        for j in range(m):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        s += g[(i + di) % n, (j + dj) % m]
            h[i, j] = 1 if s == 3 or (s == 2 and g[i, j] == 1) else 0


def weighted(a, out):
    for i in range(2, a.shape[0] - 2):
        for j in range(2, a.shape[1] - 2):
            total = 0.0
            for d in range(-2, 3):
                for e in range(-2, 3):
                    w = weight(d, e * e + 1)
                    term = w * a[i + d, j + e]
                    if e > 0:
                        term = term * 0.5
                    total += term
            out[i, j] = total


def distances(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            square = 0.0
            for k in range(3):
                d = x[i, k] - x[j, k]
                square += d * d
            out[i, j] = square


def beyond(a, out):
    total = 0.0
    for i in range(a.shape[0]):
        for d in range(4):
            total += a[i + d]
            out[i] = total
    return total


def refused(a, out):
    for i in range(a.shape[0]):
        for d in range(5):
            out[i] += d
            if a[i] * d > 3:
                raise ValueError(f"{i} times {d}")
    return 0.0


def early(a, out):
    last = -1
    for i in range(a.shape[0]):
        for d in range(6):
            if d == 1:
                continue
            if a[i] + d > 5:
                break
            out[i] += d
            last = d
    return last


def backwards(a, out):
    k = 0
    for i in range(a.shape[0]):
        for d in range(3, -1, -1):
            k = k * 3 + d
        for _ in range(2, 2):
            k += 100
        for d in range(1, 9, 3):
            k -= d
            out[i] += k
        k %= 1000
    return k


def counted(a, out):
    for i in range(a.shape[0]):
        for d in range(3):
            t = 1
            while t < a[i] + d:
                t *= 2
            out[i] += t
        n = 0
        for d in range(3):
            for e in range(d, 3):
                n += d * 10 + e
        out[i] += n
    return out[0]


@pytest.mark.parametrize("dtype", ["int8", "int64"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 70), (40, 9)])
def test_neighbours_of_cells(shape, dtype):
    g = (np.random.default_rng(1).random(shape) < 0.4).astype(dtype)
    want, got = np.zeros_like(g), np.zeros_like(g)
    neighbours(g, want)
    un.jit(neighbours)(g, got)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("program, columns", [(weighted, 37), (distances, 3), (distances, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_keep_their_order(program, columns, dtype):
    a = np.random.default_rng(2).standard_normal((12, columns)).astype(dtype)
    want = np.zeros((12, max(12, columns)))
    got = want.copy()
    caught = []
    for f, out in ((program, want), (un.jit(program), got)):
        try:
            f(a, out)
        except IndexError as e:
            caught.append(str(e))
    assert len(caught) == (0 if columns >= 3 else 2) and len(set(caught)) <= 1
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("program", [beyond, refused, early, backwards, counted])
def test_what_ends_early_or_is_stored_before(program):
    for a in (np.array([1.0, 0.5, 2.5, 0.25]), np.array([0.5]), np.zeros(0) + 1, np.arange(9.0)):
        want, got = np.zeros(9), np.zeros(9)
        results = []
        for f, out in ((program, want), (un.jit(program), got)):
            try:
                results.append(f(a, out))
            except (IndexError, ValueError) as e:
                results.append((type(e), str(e)))
        assert results[0] == results[1]
        assert got.tobytes() == want.tobytes()


def chosen(x, y, out):
    for i in range(x.shape[0]):
        if x[i] == 3 or (x[i] == 2 and y[i] == 1):
            out[i] = 5
        elif x[i] == 7:
            out[i] = y[i]
        elif x[i] == 3 or x[i] == 4:
            out[i] = 6
        else:
            out[i] += x[i]


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_loops_that_choose_between_few_cases(dtype):
    rng = np.random.default_rng(3)
    for n in (0, 1, 7, 200):
        x, y = (rng.integers(0, k, n).astype(dtype) for k in (9, 3))
        want, got = np.ones(n, dtype), np.ones(n, dtype)
        chosen(x, y, want)
        un.jit(chosen)(x, y, got)
        assert np.array_equal(got, want)


def around(a, out):
    for i in range(1, a.shape[0] - 1):
        for x in range(i - 1, i + 2):
            out[i] += a[x] * (x - i)
    return 0


def pairs(a, out):
    last = -1
    for i in range(a.shape[0] // 2):
        first = 2 * i
        for x in range(first, first + 2):
            out[x] += a[x]
            first += 5
            last = x
    return last


def moving(a, out):
    k = 0
    for i in range(a.shape[0] // 3):
        for x in range(k, k + 3):
            k += 1
            out[i] = 10 * out[i] + a[x]
    return k


def beside(a, out):
    for i in range(a.shape[0]):
        for x in range(i - 2, i + 1):
            out[i] += a[x]
        for x in range(i, i + 2):
            out[i] *= a[x]
    return 0


@pytest.mark.parametrize("program", [around, pairs, moving, beside])
def test_bounds_that_differ_by_a_number(program):
    for n in (0, 1, 2, 3, 9, 40):
        a = np.random.default_rng(n).standard_normal(n)
        want, got = np.ones(n), np.ones(n)
        results = []
        for f, out in ((program, want), (un.jit(program), got)):
            try:
                results.append(f(a, out))
            except IndexError as e:
                results.append(str(e).replace("for axis 0 ", ""))
        assert results[0] == results[1]
        assert got.tobytes() == want.tobytes()
