"""Integers from 2**63 to 2**64 - 1, which are uint64, and their comparisons with signed ones."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

MASK = 0xFFFFFFFFFFFFFFFF


def test_constants_are_uint64(on):
    @un.jit(device=on)
    def mixed(seed, a):
        x = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        return x, a ^ 0xCBF29CE484222325, a & MASK, np.array([MASK, 1], dtype=np.uint64)

    a = np.array([0, 1, 2**63 + 5], np.uint64)
    with np.errstate(over="ignore"):
        expected = mixed.py_func(7, a)
    for got, wanted in zip(mixed(7, a), expected, strict=True):
        assert np.array_equal(np.asarray(got), wanted)
        assert np.ndim(wanted) == 0 or got.dtype == np.uint64


def test_hash_by_a_mask(on):
    @un.jit(device=on)
    def fnv(text):
        h = 0xCBF29CE484222325
        for c in text:
            h = ((h ^ ord(c)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        return h

    assert fnv("hello") == fnv.py_func("hello")


def test_the_least_integer(on):
    assert un.jit(lambda: -9223372036854775808, device=on)() == -(2**63)
    with pytest.raises(un.CompileError, match="the integer -9223372036854775809 is not supported"):
        un.jit(lambda: -9223372036854775809, device=on)()


def test_comparisons_are_of_values(on):
    @un.jit(device=on)
    def compared(n, u):
        known = n < 0x8000000000000000, n == 0x8000000000000000, -1 >= 0xFFFFFFFFFFFFFFFF
        return *known, n < u, n <= u, n > u, n >= u, n == u, n != u, u < n, u >= n, u == n

    for n in (-(2**63), -1, 0, 3, np.int64(-1), np.int32(3)):
        for u in (0, 3, 2**63, 2**64 - 1):
            expected = tuple(map(bool, compared.py_func(n, np.uint64(u))))
            assert tuple(map(bool, compared(n, np.uint64(u)))) == expected
