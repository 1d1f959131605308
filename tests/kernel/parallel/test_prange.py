"""Parallel loops: inference, results, refusals."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


def test_reductions_and_privates(on):
    @un.jit(device=on)
    def f(a, b):
        s = 0
        low, high, product = a[0], a[0], 1.0
        every, some, odd = True, False, 0
        for i in un.prange(len(a)):
            t = a[i] * 2
            s += t
            low = min(low, a[i])
            high = max(high, a[i])
            product *= 2.0
            every &= a[i] >= 0
            some |= a[i] > 8
            odd ^= i
            b[i] = t
        return s, low, high, product, every, some, odd

    a = np.arange(10.0)
    b, c = np.zeros(10), np.zeros(10)
    got, want = f(a, b), f.py_func(a, c)
    assert got == want
    assert b.tobytes() == c.tobytes()
    report = f.parallel_report()
    assert "prange over i" in report and "private: i, t" in report
    assert "every (&), high (max), low (min), odd (^), product (*), s (+), some (|)" in report
    assert "written, each element by one iteration: b at line" in report


def test_stencil_in_parallel(on):
    @un.jit(device=on)
    def solve(u, v):
        for y in un.prange(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                v[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4

    u = np.random.default_rng(0).random((33, 17))
    v, w = u.copy(), u.copy()
    solve(u, v)
    solve.py_func(u, w)
    assert v.tobytes() == w.tobytes()
    v[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4
    assert v.tobytes() == w.tobytes()


def test_lowest_failing_iteration(on):
    @un.jit(device=on)
    def f(a, n):
        for i in un.prange(n):
            a[i + 2] = i

    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        f(np.zeros(5), 100)


def test_unknown_dependences_are_reported(on):
    @un.jit(device=on)
    def f(a, where):
        for i in un.prange(len(where)):
            a[where[i]] = i

    a = np.zeros(4)
    f(a, np.array([3, 1, 0, 2]))
    assert a.tolist() == [2, 1, 3, 0]
    assert "not proven apart, iterations may meet: a at line" in f.parallel_report()


def test_strided_halves_are_independent(on):
    @un.jit(device=on)
    def f(a):
        for i in un.prange(len(a) // 2):
            a[2 * i] = a[2 * i + 1]

    a = np.arange(6.0)
    f(a)
    assert a.tolist() == [1, 1, 3, 3, 5, 5]
