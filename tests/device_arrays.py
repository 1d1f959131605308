"""Arrays on a device, and NumPy's that they must equal, for the tests of devices."""

import numpy as np
import unisono as un


def with_queues():
    """Names of the devices that have queues."""
    return [d.name for d in un.devices() if d.name.startswith(("opencl", "cuda"))]


def both(device, *arrays):
    return [un.asarray(a, device=device) for a in arrays]


def same(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)
