"""Loops whose first or last iterations differ run these apart: the values, and their order, are Python's for any number of iterations."""

import numpy as np
import pytest
import unisono as un


def upwind(u, out):
    for i in range(u.size):
        out[i] = u[i] - 0.25 * (u[i] - u[i - 1])


def periodic(u, out):
    n = u.size
    for i in range(n):
        out[i] = u[i - 1] - 2 * u[i] + u[(i + 1) % n]


def two_of_each_end(u, out):
    n = u.size
    for i in range(n):
        left = u[i - 2] if i >= 2 else -1.0
        right = u[i + 2] if i < n - 2 else 1.0
        out[i] = right - left


def reflected(u, out):
    n = u.size
    for i in range(n):
        out[i] = u[max(i - 1, 0)] + 3 * u[min(i + 1, n - 1)]


def branches(u, out):
    n = u.size
    for i in range(n):
        if i == 0:
            out[i] = 7.0
            continue
        if n - 1 == i:
            out[i] = 9.0
        elif 1 != i:
            out[i] = u[i] + out[i - 1]


def carried(u, out):
    n = u.size
    s = 0.0
    for i in range(n):
        s = s * 0.5 + (u[i] if i > 0 else 1.0) / (2.0 if i == n - 1 else 3.0)
        out[i] = s


def from_elsewhere(u, out):
    for b in range(3):
        e = u.size - b
        for i in range(b, e):
            out[i] += u[i] * (10.0 if i < b + 1 else 1.0) * (0.1 if i + 1 == e else 2.0)


def bounds_change(u, out):
    n = u.size
    for i in range(n):
        if i < n - 1:
            out[i] = n
        n -= 1


def stops(u, out):
    n = u.size
    for i in range(n):
        if i > 0 and u[i] > u[i - 1] + 2:
            break
        out[i] = 1.0


def fails(u, out):
    n = u.size
    for i in range(n):
        if i == n - 1:
            raise ValueError("the last")
        out[i] = 1.0 if i == 0 else 2.0


FUNCTIONS = [
    upwind, periodic, two_of_each_end, reflected, branches, carried, from_elsewhere, bounds_change, stops,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [*range(10), 33, 100])
def test_any_number_of_iterations(function, n):
    u = np.random.default_rng(n).standard_normal(n)
    out, wanted = np.zeros(n), np.zeros(n)
    function(u, wanted)
    un.jit(nopython=True)(function)(u, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("n", range(6))
def test_what_fails_at_the_end(n):
    out, wanted = np.zeros(n), np.zeros(n)
    compiled = un.jit(nopython=True)(fails)
    if n == 0:
        compiled(out, out)
    else:
        with pytest.raises(ValueError, match="the last"):
            fails(wanted, wanted)
        with pytest.raises(ValueError, match="the last"):
            compiled(np.zeros(n), out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("function", [upwind, periodic, two_of_each_end, reflected])
def test_vectors_load_neighbours_as_they_lie(function):
    compiled = un.jit(nopython=True)(function)
    compiled(np.ones(3), np.zeros(3))
    (code,) = compiled.inspect_llvm().values()
    code = code.split("; ModuleID")[1]
    assert "vector.body" in code
    assert "gather" not in code
