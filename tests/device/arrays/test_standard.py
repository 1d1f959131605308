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


def rows(name):
    host = np.arange(6.0).reshape(2, 3)
    return host, un.asarray(host, device=name)


@pytest.mark.parametrize("f", ["asarray", "array", "sort", "negative", "stack", "cumsum", "flip"])
def test_lists_of_arrays_stay(name, f):
    host, x = rows(name)
    un.eval(x)
    before = un.stats()["bytes_copied"]
    made = getattr(un, f)([x[0], x[1]])
    assert made.device == name
    assert un.stats()["bytes_copied"] == before
    np.testing.assert_array_equal(
        np.asarray(made.to_device("cpu")), getattr(np, f)([host[0], host[1]])
    )
    assert un.array([x[0], [1, 2, 3]]).device == name
    assert un.asarray([x, x], dtype="float32").device == name
    assert un.asarray([x[0], x[1]], device="cpu").device == "cpu"


@pytest.mark.parametrize("f", ["stack", "hstack", "vstack", "dstack", "column_stack"])
def test_numbers_of_a_vector_stay(name, f):
    host, x = rows(name)
    for mine, theirs in ((x[0], host[0]), (x, host)):
        made = getattr(un, f)(mine)
        assert made.device == name
        np.testing.assert_array_equal(
            np.asarray(made.to_device("cpu")), getattr(np, f)(list(theirs))
        )


@pytest.mark.parametrize(
    "f", ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "meshgrid"]
)
@pytest.mark.parametrize("other", [2.0, [1, 2, 3], np.arange(3)], ids=["number", "list", "numpy"])
def test_what_stands_beside_an_array_goes_to_its_device(name, f, other):
    host, x = rows(name)
    for made, expected in (
        (getattr(un, f)(x[0], other), getattr(np, f)(host[0], other)),
        (getattr(un, f)(other, x[0]), getattr(np, f)(other, host[0])),
    ):
        for mine, theirs in zip(made, expected, strict=True):
            assert mine.device == name
            np.testing.assert_array_equal(np.asarray(mine.to_device("cpu")), theirs)
