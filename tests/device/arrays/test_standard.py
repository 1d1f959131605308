"""The array API standard's arrays on devices: what comes of them stays there."""

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues

NAMES = with_queues()

pytestmark = pytest.mark.skipif(not NAMES, reason="no device with queues")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def host(x):
    return np.asarray(x.to_device("cpu"))


def test_elements_and_results_without_axes_stay(name):
    xp = un.asarray([1.0], device=name).__array_namespace__()
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=name)
    flag = xp.asarray(True, device=name)
    for got, expected in (
        (x[0, 1], 2.0),
        (x[1, 1][()], 4.0),
        (flag[()], True),
        (xp.sum(x), 10.0),
        (xp.max(x), 4.0),
        (xp.concat([x, x])[3, 0], 3.0),
        (x[0, 0] + 1, 2.0),
        (1 - x[0, 1], -1.0),
        (xp.any(x > 3), True),
    ):
        assert type(got) is type(x) and got.device == name, got
        assert host(got) == expected and got.shape == ()


@pytest.mark.parametrize("keep", [True, False])
def test_masks_without_axes(name, keep):
    for shape in ((), (3,), (2, 0)):
        a = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1.5)
        x, mask = un.asarray(a, device=name), un.asarray(keep, device=name)
        np.testing.assert_array_equal(host(x[mask]), a[np.asarray(keep)])
        np.testing.assert_array_equal(host(x[keep]), a[keep])
        y, b = un.asarray(a, device=name), a.copy()
        y[mask] = 7.0
        b[np.asarray(keep)] = 7.0
        np.testing.assert_array_equal(host(y), b)
