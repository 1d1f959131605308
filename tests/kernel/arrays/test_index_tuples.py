"""Tuples of index arrays, as np.nonzero and np.triu_indices give them, as indices in compiled functions."""

import numpy as np
import pytest
import unisono as un


def read(m):
    t = np.nonzero(m > 3)
    s = (np.array([0, 1]), 2)
    best = np.unravel_index(np.argmax(m), m.shape)
    return (
        (m[np.triu_indices(3)], m[t], m[np.where(m > 5)], m[s], m[best], len(t[0]))
        + (m[np.ix_(np.array([0, 2]), np.array([0, 1]))],)
        + (m[np.unravel_index(np.argmin(m), m.shape)],)
    )


def write(m):
    m[np.tril_indices(3, -1)] = 0.5
    m[np.diag_indices(3)] += 5.0
    t = np.where(m > 6)
    m[t] = 7.0
    return m


@pytest.mark.parametrize("function", [read, write])
def test_like_numpy(function):
    def given():
        return np.arange(9.0).reshape(3, 3)

    for got, wanted in zip(un.jit(function)(given()), function(given()), strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)


def test_three_axes():
    def f(m, i):
        t = (i, i[::-1])
        return m[t]

    m, i = np.arange(27).reshape(3, 3, 3), np.array([2, 0])
    np.testing.assert_array_equal(un.jit(f)(m, i), f(m, i))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        un.jit(f)(m, np.array([3, 0]))
    with pytest.raises(un.CompileError, match="holds integers and arrays of integers; got float64"):
        un.jit(f)(m, np.array([1.0]))


def test_tuples_of_arrays_by_indices_of_the_run():
    def add_rows(pair, skipped):
        s = 0.0
        for a in pair:
            if a.shape[0] == skipped:
                continue
            s += a.sum()
        for p, q in [(0, 1), (1, 0)]:
            for j in range(len(pair[p])):
                pair[q][0, 0] += pair[p][j, 0]
                if j == 1:
                    break
        for k in range(-2, 2):
            pair[k][1] *= 2
        return s

    compiled = un.jit(add_rows)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3)
    for second in (b, np.asfortranarray(b), a.T, a[::2]):
        ours, theirs = (a.copy(), second.copy("K")), (a.copy(), second.copy("K"))
        assert compiled(ours, 3) == add_rows(theirs, 3)
        assert np.array_equal(ours[0], theirs[0]) and np.array_equal(ours[1], theirs[1])

    @un.jit
    def item(parts, k):
        return parts[k]

    parts = (np.zeros(2), np.ones(2), np.full(2, 2.0))
    for k in (-3, -1, 0, 1, 2):
        assert np.array_equal(item(parts, k), parts[k])
        assert np.shares_memory(item(parts, k), parts[k])
    for k in (-4, 3):
        with pytest.raises(IndexError, match="tuple index out of range"):
            item(parts, k)
    with pytest.raises(un.CompileError, match="items have different types"):
        item((np.zeros(2), np.zeros(2, int)), 1)

    @un.jit
    def gathered(parts, n):
        s = 0.0
        for k in un.prange(n):
            s += parts[k % 3][k % 2]
        return s

    assert gathered(parts, 999) == 999


def by_first_axes(m, i, j):
    pair, row = (i, j), (i,)
    m[pair][0] = 5.0
    m[row] += 1.0
    m[pair] = m[pair] * 2.0
    out = np.empty(m.shape[:2])
    for k in np.ndindex(out.shape):
        out[k] = m[k].sum()
    return out, m[pair].copy(), m[pair][1]


def test_tuples_in_names_index_the_first_axes():
    a = np.arange(60.0).reshape(3, 4, 5)
    b = a.copy()
    want, got = by_first_axes(a, 1, -2), un.jit(by_first_axes)(b, 1, -2)
    assert np.array_equal(a, b)
    assert all(np.array_equal(w, g) for w, g in zip(want, got, strict=True))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0"):
        un.jit(by_first_axes)(b, 9, 0)
