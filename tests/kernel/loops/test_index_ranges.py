"""Indices of neighbours that count from the end, masks, clamps and remainders: elements and errors are Python's for any shape."""

import re

import numpy as np
import pytest
import unisono as un


def periodic(u):
    out = np.zeros_like(u)
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[i, j] = u[i - 1, j] + 2 * u[i, j - 1] + 3 * u[i - 1, j - 1]
    return out


def two_before(u):
    out = np.zeros_like(u)
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[i, j] = u[i - 2, j] - u[i, j - 3]
    return out


def other_shape(u):
    out = np.zeros((3, 3))
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            out[i - 1, j - 1] += u[i, j]
    return out


def clamped(u):
    out = np.zeros_like(u)
    h, w = u.shape
    for i in range(h):
        for j in range(w):
            for d in range(-2, 3):
                out[i, j] += u[min(max(i + d, 0), h - 1), max(min(j - d, w - 1), 0)]
    return out


def chosen(u):
    out = np.zeros_like(u)
    h, w = u.shape
    for i in range(h):
        below = i + 1 if i + 1 < h else 0
        for j in range(w):
            out[i, j] = u[below, j if j % 2 == 0 else w - 1]
    return out


@pytest.mark.parametrize("function", [periodic, two_before, other_shape, clamped, chosen])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 1), (1, 4), (2, 3), (3, 3), (4, 2), (5, 6)])
def test_neighbours(function, shape):
    u = np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape)
    compiled = un.jit(nopython=True)(function)
    try:
        wanted = function(u)
    except IndexError as error:
        with pytest.raises(IndexError) as caught:
            compiled(u)
        assert str(caught.value).startswith(str(error))
    else:
        np.testing.assert_array_equal(np.asarray(compiled(u)), wanted)


def by_bytes(keys, table):
    for i in range(keys.size):
        table[keys[i]] += 1


def by_masks(keys, table):
    for i in range(keys.size):
        table[keys[i] & 3] += 1
        table[(keys[i] >> 6) & 3] += 10


def by_remainders(keys, table):
    for i in range(keys.size):
        k = int(keys[i])
        table[k % 4] += 1
        table[k % table.size] += 10
        table[abs(k) // 3 % 4 - 1] += 100


@pytest.mark.parametrize("function", [by_bytes, by_masks, by_remainders])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int64"])
@pytest.mark.parametrize("size", [1, 3, 4, 128, 256])
def test_tables(function, dtype, size):
    keys = np.random.default_rng(1).integers(-128, 128, 200).astype(dtype)
    compiled = un.jit(nopython=True)(function)
    table, wanted = np.zeros(size, np.int64), np.zeros(size, np.int64)
    fails = False
    try:
        function(keys, wanted)
    except IndexError:
        fails = True
    if fails:
        with pytest.raises(IndexError):
            compiled(keys, table)
    else:
        compiled(keys, table)
    np.testing.assert_array_equal(table, wanted)


def test_nests_with_periodic_neighbours_have_no_tests():
    compiled = un.jit(nopython=True)(periodic)
    compiled(np.ones((3, 3)))
    assert "no test of 4 indices in the loop" in compiled.explain()


def swapped(n, steps):
    u = np.ones((n, n))
    u[n // 2, n // 2] = 5.0
    for _ in range(steps):
        v = u.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                v[i, j] = u[i - 1, j] + u[i + 1, j] - u[i, j - 1] * u[i, j + 1]
        u = v
    return u


def test_extents_that_a_loop_changes_are_tested_inside_of_it():
    f = un.njit(swapped)
    np.testing.assert_array_equal(f(23, 3), swapped(23, 3))
    assert re.search(r"fadd <\d+ x double>", f.inspect_llvm())  # no element is tested


def least(x, first):
    best = first
    for i in range(len(x)):
        if x[i] < x[best]:
            best = i
    return best


def sorted_by_selection(x, first):
    for k in range(len(x)):
        best = k
        for i in range(k + 1, len(x)):
            if x[i] < x[best]:
                best = i
        x[k], x[best] = x[best], x[k]
    return x[first]


def last_positive(x, first):
    seen = first
    for i in range(0, 2 * len(x), 2):
        if i < len(x) and x[i] > 0:
            seen = i
        x[seen] += 1
    return seen


def least_then_reset(x, first):
    best = 0
    for i in range(len(x)):
        if x[i] < x[best]:
            best = i
        if x[i] > 0.9:
            best = first
    return best


@pytest.mark.parametrize("function", [least, sorted_by_selection, last_positive, least_then_reset])
@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("first", [0, 1, -1, -2, 49, 50, -51, 2**62])
def test_positions_of_records(function, n, first):
    x = np.random.default_rng(1).normal(size=n)
    wanted = x.copy()
    compiled = un.jit(nopython=True)(function)
    try:
        result = function(wanted, first)
    except IndexError:
        with pytest.raises(IndexError):
            compiled(x, first)
    else:
        assert compiled(x, first) == result
    np.testing.assert_array_equal(x, wanted)


def test_positions_of_records_need_no_test():
    compiled = un.jit(nopython=True)(sorted_by_selection)
    compiled(np.ones(3), 0)
    for count in (2, 4):
        assert f"no test of {count} indices in the loop" in compiled.explain()
