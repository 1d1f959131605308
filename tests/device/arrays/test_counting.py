"""Counts, sums at positions, segments, distinct values and products on every device."""

import numpy as np
import pytest
import unisono as un
from device_arrays import both, same

DTYPES = "bool int8 uint16 int32 uint64 float32 float64 complex64".split()


@pytest.mark.parametrize("n", [1, 1000, 300_000])
def test_bincount_and_histogram(device, n):
    """Sums of weights have the host's bits: they are cut and added in the same order."""
    rng = np.random.default_rng(1)
    a, w, v = rng.integers(0, 50, n), rng.random(n), rng.normal(size=n)
    x, u, y = both(device, a, w, v)
    same(un.bincount(x), np.bincount(a))
    same(un.bincount(x, minlength=99), np.bincount(a, minlength=99))
    same(un.bincount(x, weights=u), un.bincount(un.asarray(a), weights=un.asarray(w)))
    same(un.histogram(y, 10, range=(-2, 2))[0], np.histogram(v, 10, range=(-2, 2))[0])
    edges = [-1.0, -0.5, 0.25, 2.0]
    same(un.histogram(y, un.asarray(edges, device=device))[0], np.histogram(v, edges)[0])


@pytest.mark.parametrize("n", [1, 63, 65, 200_000])
@pytest.mark.parametrize("bins", [1, 10, 1000])
def test_values_on_edges_of_bins(device, n, bins):
    """Bins of evenly spaced edges are guessed; values on or beside an edge are put right."""
    rng = np.random.default_rng(8)
    v = rng.integers(-2, bins + 3, n) / bins
    v = np.where(rng.random(n) < 0.3, np.nextafter(v, rng.choice([-9.0, 9.0], n)), v)
    v = np.where(rng.random(n) < 0.1, np.nan, v)
    w = rng.random(n)
    x, u = both(device, v, w)
    for limits in [(0, 1), (0.1, 0.7), (-3, 1e9), (0, bins * 1e-320)]:
        near = un.histogram(un.asarray(v), bins, range=limits)[0]
        same(un.histogram(x, bins, range=limits)[0], np.asarray(near))
        near = un.histogram(un.asarray(v), bins, range=limits, weights=un.asarray(w))[0]
        got = np.asarray(un.histogram(x, bins, range=limits, weights=u)[0])
        assert got.tobytes() == np.asarray(near).tobytes()
    same(un.histogram(x, bins, range=(0, 1))[0], np.histogram(v, bins, range=(0, 1))[0])


@pytest.mark.parametrize("n", [1, 255, 4097, 300_000])
@pytest.mark.parametrize("bins", [1, 129, 4096, 4097, 20_000])
def test_counts_in_tables_of_all_sizes(device, n, bins):
    """Few cells have several tables, many have none."""
    rng = np.random.default_rng(3)
    a, v = rng.integers(0, bins, n), rng.normal(size=n)
    edges = np.cumsum(rng.random(bins + 1)) / bins - 0.5
    x, y, e = both(device, a, v, edges)
    same(un.bincount(x, minlength=bins), np.bincount(a, minlength=bins))
    same(un.bincount(x * 0), np.bincount(a * 0))
    same(un.histogram(y, bins, range=(-2, 2))[0], np.histogram(v, bins, range=(-2, 2))[0])
    same(un.histogram(y, e)[0], np.histogram(v, edges)[0])


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "minimum", "maximum"])
@pytest.mark.parametrize("dtype", ["int32", "float64", "float32"])
def test_ufunc_at(device, name, dtype):
    """One after the other, as the host does: the same bits."""
    rng = np.random.default_rng(2)
    at, values = rng.integers(-20, 20, 4000), (rng.integers(1, 9, 4000) / 4).astype(dtype)
    a = np.ones(20, dtype)
    x, i, v = both(device, a.copy(), at, values)
    with np.errstate(over="ignore"):
        getattr(np, name).at(a, at, values)
    getattr(un, name).at(x, i, v)
    same(x, a)


def test_ufunc_at_of_other_operations(device):
    a, at = np.full(3, 2.0), np.array([0, 1, 0])
    x, i, v = both(device, a.copy(), at, np.array([2.0, 3.0, 4.0]))
    np.power.at(a, at, [2.0, 3.0, 4.0])
    un.power.at(x, i, v)
    same(x, a)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_segments(device, dtype):
    rng = np.random.default_rng(3)
    a = (rng.integers(-9, 9, 6000) / 4).astype(dtype)
    begins = np.array([0, 5, 5, 700, 690, 3000, 5999])
    x, i = both(device, a, begins)
    for name in ("add", "maximum"):
        got = getattr(un, name).reduceat(x, i)
        near = getattr(un, name).reduceat(un.asarray(a), un.asarray(begins))
        assert np.asarray(got).tobytes() == np.asarray(near).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 30, 5000])
def test_unique(device, dtype, n):
    a = np.random.default_rng(4).integers(0, 40, n).astype(dtype)
    if a.dtype.kind in "fc" and n > 1:
        a[::7] = np.nan
    (x,) = both(device, a)
    same(un.unique(x), np.unique(a))
    if a.dtype.kind != "c" or n == 1:
        for got, expected in zip(
            un.unique(x, return_index=True, return_inverse=True, return_counts=True),
            np.unique(a, return_index=True, return_inverse=True, return_counts=True),
            strict=True,
        ):
            same(got, expected)
    assert un.unique(x).device == x.device


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split())
@pytest.mark.parametrize("n", [1, 30, 5000, 100_000])
def test_unique_integers(device, dtype, n):
    """Integers of a small range are marked in tables, those of a large one are sorted."""
    rng, limits = np.random.default_rng(6), np.iinfo(dtype)
    for low, count in [
        (limits.min, 7),
        (limits.max - 8, 9),
        (limits.max // 2, 50),
        (0, n),
        (0, n + 1),
    ]:
        a = (low + rng.integers(0, min(count, limits.max), n).astype(object)).astype(dtype)
        a[-1], a[n // 2] = low, min(low + count, int(limits.max))
        (x,) = both(device, a)
        same(un.unique(x), np.unique(a))
    a = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
    (x,) = both(device, a)
    same(un.unique(x), np.unique(a))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5000, 100_000])
def test_unique_floats(device, dtype, n):
    """Values that occur once, zeros of both signs, several NaN: as the host, with its bits."""
    rng = np.random.default_rng(7)
    a = rng.normal(size=n).astype(dtype)
    a[::3], a[1::7], a[5::11] = 0.0, -0.0, np.nan
    (x,) = both(device, a)
    for equal_nan in (True, False):
        got = np.asarray(un.unique(x, equal_nan=equal_nan))
        near = np.asarray(un.unique(un.asarray(a), equal_nan=equal_nan))
        assert got.tobytes() == near.tobytes()


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (4, 4, 4), (130, 70, 257), (9, 1, 300)])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_matmul(device, dtype, shape):
    m, k, n = shape
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-5, 5, s).astype(dtype) for s in ((m, k), (k, n)))
    x, y = both(device, a, b)
    same(x @ y, a @ b)
    same(y.T @ x.T, b.T @ a.T)
    same(x @ y[:, 0], a @ b[:, 0])
    same(x[0] @ y, a[0] @ b)
    (stacked,) = both(device, np.stack([a, a * 2]))
    same(stacked @ y, np.stack([a, a * 2]) @ b)
    out = un.zeros((m, n), dtype, device=device)
    un.matmul(x, y, out=out)
    same(out, a @ b)
    wide = un.zeros((m, 2 * n), dtype, device=device)
    un.matmul(x, y, out=wide[:, ::2])
    same(wide[:, ::2], a @ b)
    same(wide[:, 1::2], np.zeros((m, n), dtype))


def test_order_of_sums_in_products(device):
    """Products are added in the order of k, so the result does not depend on tiles."""
    rng = np.random.default_rng(6)
    a, b = rng.random((37, 61)), rng.random((61, 200))
    x, y = both(device, a, b)
    if device == "cpu":
        np.testing.assert_allclose(np.asarray(x @ y), a @ b, rtol=1e-14)
        return
    expected = a[:, :1] * b[:1]
    for k in range(1, 61):
        expected = expected + a[:, k : k + 1] * b[k : k + 1]
    same(x @ y, expected)


def test_convolve(device):
    rng = np.random.default_rng(7)
    a, v = rng.random(500), rng.random(9)
    x, w = both(device, a, v)
    for mode in ("full", "same", "valid"):
        np.testing.assert_allclose(
            np.asarray(un.convolve(x, w, mode)), np.convolve(a, v, mode), rtol=1e-13
        )


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float32", "complex64"])
def test_convolve_with_many_weights(device, dtype):
    rng = np.random.default_rng(8)
    a, v = (rng.integers(0, 2, n).astype(dtype) for n in (300, 70))
    x, w = both(device, a, v)
    for mode in ("full", "same", "valid"):
        made = un.convolve(x, w, mode)
        assert made.device == device
        np.testing.assert_array_equal(np.asarray(made), np.convolve(a, v, mode), strict=True)
