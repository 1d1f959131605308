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
