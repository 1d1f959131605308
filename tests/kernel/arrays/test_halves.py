"""float16 in compiled functions: computed in float32 and rounded after each operation, as NumPy does it."""

import dataclasses

import numpy as np
import pytest
import unisono as un

half = np.float16
rng = np.random.default_rng(0)
x = rng.random(1000).astype(half)
y = (rng.random(1000) * 4 - 2).astype(half)
m = rng.random((20, 30)).astype(half)


def elements(a, b):
    return (
        a * 2 - b / 3 + 1.5,
        a // b,
        a % b,
        -b,
        abs(b),
        b**2,
        a < b,
        a + 1,
        a + np.float32(1),
        a * b,
    )


def mathematics(a, b):
    return np.sin(a), np.exp(b), np.sqrt(a), np.floor(b), np.minimum(a, b), np.maximum(a, b)


def sums_in_order(a, b):
    s = a[0]
    for i in range(1, a.size):
        s = s + a[i] * b[i]
    a[1:] = 0.5
    for i in range(1, a.size):
        a[i] = a[i - 1] * np.float16(0.5) + b[i]
    return s, a


def casts(a, b):
    return (
        a.astype(np.float32),
        b.astype(np.int32),
        a.astype(np.float64),
        np.arange(5).astype(np.float16),
        np.float16(1e5),
    )


def numbers(a, b):
    return (
        a[0] + b[0],
        a[1] * 2.5,
        a[2] / b[2],
        a[0] < b[0],
        float(a[3]),
        int(b[4]),
        a[5] * 3,
        a[0] + 1e-9,
    )


def made(a, b):
    z = np.zeros(5, dtype=np.float16)
    z[1] = 1 / 3
    z[2:] = 7
    return (
        z,
        np.ones(3, np.float16),
        np.full(2, 1.1, np.float16),
        np.empty_like(a).dtype == np.float16,
        np.where(a > 0.5, a, b),
    )


def extremes(a, b):
    return (
        a.max(),
        b.min(),
        b.argmin(),
        np.sort(b),
        np.unique(a),
        np.clip(b, -1, 1),
        np.concatenate((a, b)),
    )


def held(a, b):
    d = {1: a[0], 2: a[1]}
    kept = [v for v in b[:4]]
    largest = None
    for v in a[:50]:
        if largest is None or v > largest:
            largest = v
    return d[1] + d[2], kept[3], largest, len({a[0], a[1], a[0]}), sum(kept)


@pytest.mark.parametrize(
    "function", [elements, mathematics, sums_in_order, casts, numbers, made, extremes, held]
)
def test_like_numpy(function):
    with np.errstate(all="ignore"):
        want = function(x.copy(), y.copy())
    for got, wanted in zip(un.jit(function)(x.copy(), y.copy()), want, strict=True):
        if isinstance(wanted, np.ndarray):
            assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_sums_are_rounded_once():
    @un.jit
    def sums(a):
        return (
            a.sum(),
            a.sum(axis=0),
            a.mean(axis=1),
            np.prod(a[:2, :3]),
            np.cumsum(a),
            a.std(),
            np.var(a, axis=0),
        )

    wide = m.astype(np.float32)
    want = (
        wide.sum(),
        wide.sum(axis=0),
        wide.mean(axis=1),
        np.prod(wide[:2, :3]),
        np.cumsum(wide),
        wide.std(),
        wide.var(axis=0),
    )
    for got, wanted in zip(sums(m), want, strict=True):
        np.testing.assert_allclose(got, wanted.astype(half), rtol=1e-3)
    assert un.jit(lambda a: a.sum())(np.ones(5000, half)) == 5000


def test_products():
    @un.jit
    def products(a):
        return a @ a.T, a[0] @ a[1], np.dot(a, a[0]), (2 * a) @ a[0]

    for got, wanted in zip(products(m), products.py_func(m), strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=2e-3)


def test_our_arrays_and_signatures():
    @un.jit("float16[:](float16[:], float16)")
    def scaled(a, k):
        return a * k

    got = scaled(un.asarray(x), half(1.5))
    assert got.dtype == half
    np.testing.assert_array_equal(got, x * half(1.5))


def test_fields_of_dataclasses():
    @dataclasses.dataclass
    class Pair:
        first: half
        second: float

    @un.jit
    def twice(p):
        p.first = p.first * np.float16(2)
        return p.first + p.second

    pair = Pair(half(1.5), 2.0)
    assert twice(pair) == 5 and pair.first == 3


def test_reductions_of_prange():
    @un.jit(parallel=True)
    def total(a):
        s = np.float16(0)
        for i in un.prange(a.size):
            s += a[i]
        return s

    assert total(np.ones(100, half)) == 100
