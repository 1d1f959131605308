"""Functions whose rows a device lacks run there by their Python bodies."""

import numpy as np
import pytest
import unisono as un


def values(n, dtype):
    k = np.arange(n)
    return ((k * k * 7 + k * 31) % 23).astype(dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64"])
def test_places_and_distinct_values(device, dtype):
    a = values(5000, dtype)
    x = un.asarray(a, device=device)
    for expected, made in zip(np.nonzero(a), un.nonzero(x), strict=True):
        assert made.device == device
        np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), expected)
    table = a.reshape(50, 100)
    for expected, made in zip(np.nonzero(table), un.nonzero(x.reshape(50, 100)), strict=True):
        np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), expected)
    expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    made = un.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for e, m in zip(expected, made, strict=True):
        np.testing.assert_array_equal(np.asarray(m.to_device("cpu")), e)


def test_repeats_and_counts(device):
    a = values(3000, "int64")
    x = un.asarray(a, device=device)
    repeated = un.repeat(x, x % 4)
    np.testing.assert_array_equal(np.asarray(repeated.to_device("cpu")), np.repeat(a, a % 4))
    np.testing.assert_array_equal(np.asarray(un.bincount(x).to_device("cpu")), np.bincount(a))
    with pytest.raises(ValueError, match="counts must not be negative; got -1 at position 0"):
        un.repeat(x, x - 1)
