"""Elements under masks and joins on every device, against NumPy."""

import numpy as np
import pytest
import unisono as un
from device_arrays import both, same

DTYPES = "bool int8 uint16 float32 int64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(1,), (50,), (40_000,), (3, 5), (200, 300), (9, 50, 40), (2, 3, 1, 7)]
)
def test_masks(device, dtype, shape):
    rng = np.random.default_rng(1)
    a, m = rng.integers(0, 9, shape).astype(dtype), rng.random(shape) < 0.3
    x, mask = both(device, a.copy(), m)
    same(x[mask], a[m])
    same(x[::-1][mask], a[::-1][m])
    for got, expected in zip(un.nonzero(mask), np.nonzero(m), strict=True):
        same(got, expected)
    same(un.count_nonzero(mask), np.count_nonzero(m))
    values = np.arange(m.sum()).astype(dtype)
    (v,) = both(device, values)
    x[mask] = v
    a[m] = values
    same(x, a)
    x[mask] = 1
    a[m] = 1
    same(x, a)


def test_masks_of_few_axes_and_beside_indices(device):
    a, m, at = (
        np.arange(24.0).reshape(4, 6),
        np.array([True, False, True, True]),
        np.array([5, 0, 1]),
    )
    x, mask, i = both(device, a, m, at)
    same(x[mask], a[m])
    same(x[mask, i], a[m, at])
    same(x[:, ::2][mask], a[:, ::2][m])
    same(x[mask & False], a[m & False])
    same(un.argwhere(x > 20), np.argwhere(a > 20))
    same(un.compress(mask, x, axis=0), np.compress(m, a, axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_joins(device, dtype):
    parts = [np.arange(6 * k).reshape(3, 2 * k).astype(dtype) for k in range(40)]
    arrays = both(device, *parts)
    same(un.concatenate(arrays, axis=1), np.concatenate(parts, axis=1))
    same(un.concatenate([x.T for x in arrays]), np.concatenate([a.T for a in parts]))
    same(un.concatenate(arrays[:2], axis=1), np.concatenate(parts[:2], axis=1))
    assert un.concatenate(arrays, axis=1).device == arrays[0].device


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 16_383, 16_384, 16_385, 50_000])
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99, 1])
def test_masks_of_all_densities(device, n, share):
    """Masks are read 64 elements at a time: none, some or all of which are set; the rest keeps its values."""
    rng = np.random.default_rng(2)
    a, m = rng.random(n), rng.random(n) < share
    x, mask = both(device, a.copy(), m)
    same(x[mask], a[m])
    same(un.nonzero(mask)[0], np.nonzero(m)[0])
    values = rng.random(int(m.sum()))
    (v,) = both(device, values)
    x[mask] = v
    a[m] = values
    same(x, a)
    part, near = x[n // 3 :][mask[n // 3 :]], a[n // 3 :][m[n // 3 :]]
    same(part, near)


@pytest.mark.parametrize("first", [1, 3, 8, 4097])
def test_masks_at_any_address(device, first):
    """Where a mask is read by words, those of its address count."""
    rng = np.random.default_rng(1)
    a, m = rng.random(40_000), rng.integers(0, 3, 40_000).astype(bool)
    x, mask = both(device, a.copy(), m)
    same(x[first:][mask[first:]], a[first:][m[first:]])
    same(un.nonzero(mask[first:-2])[0], np.nonzero(m[first:-2])[0])
    x[first:][mask[first:]] = x[: m[first:].sum()] + 1
    a[first:][m[first:]] = a[: m[first:].sum()] + 1
    same(x, a)
