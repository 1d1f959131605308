"""Cython's directives as keywords of jit: C division, wraparound."""

import math

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def divided(a, b):
    q, r = a // b, a % b
    a //= b
    b %= 3
    return q, r, a, b


def test_division_has_cs_signs(on):
    f = un.jit(divided, device=on, cdivision=True)
    for a, b in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, 5)]:
        q = int(a / b)
        assert f(a, b) == (q, a - q * b, q, b - int(b / 3) * 3)
    assert f(np.int32(-7), np.int32(2))[:2] == (-3, -1)
    assert f(-7.5, 2.0)[1] == math.fmod(-7.5, 2.0)
    plain = un.jit(divided, device=on)
    assert plain(-7, 2) == divided(-7, 2)
    with pytest.raises(ZeroDivisionError):
        f(1, 0)


def test_targets_are_evaluated_once(on):
    @un.jit(device=on, cdivision=True)
    def f(a, xs, i):
        n = 0

        def step():
            nonlocal n
            n += 1
            return n

        a[step()] //= 2
        a[i, xs.pop()] %= 4
        a[step() :, 0] //= 2
        return n

    a, xs = np.full((4, 2), -7), [0, 1]
    assert f(a, xs, 3) == 2 and xs == [0]
    assert a.tolist() == [[-7, -7], [-4, -4], [-4, -7], [-4, -3]]


def test_elements_and_arrays(on):
    @un.jit(device=on, cdivision=True)
    def f(a, b):
        a[0] //= 2
        a[1] %= 4
        b //= 2
        return -9 % 4, b % 2

    a, b = np.array([-7, -7]), np.array([-7, 7])
    r, rest = f(a, b)
    assert a.tolist() == [-3, -3] and b.tolist() == [-4, 3]
    assert r == -1 and np.asarray(rest).tolist() == [0, 1]


def test_wraparound_is_a_promise(on):
    @un.jit(device=on, wraparound=False, boundscheck=True)
    def f(a, i):
        return a[i]

    assert f(np.arange(3.0), 2) == 2.0
    with pytest.raises(IndexError):
        f(np.arange(3.0), 3)
    with pytest.raises(ValueError, match="wraparound is True or False"):
        un.jit(lambda x: x, wraparound=1.5)
