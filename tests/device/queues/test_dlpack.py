"""DLPack of arrays on devices."""

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")


@pytest.fixture(params=enumerate(OPENCL), ids=OPENCL)
def place(request):
    return request.param


def host(x):
    return np.asarray(x.to_device("cpu"))


def test_arrays_tell_their_device(place):
    number, name = place
    assert un.ones(3, device=name).__dlpack_device__() == (4, number)
    assert un.ones(3).__dlpack_device__() == (1, 0)


def test_our_own_tensors_share_memory(place):
    _, name = place
    x = un.arange(12, device=name).reshape(3, 4)[:, 1:]
    y = un.from_dlpack(x)
    assert y.device == name and y.shape == (3, 3)
    y[0, 0] = 99
    assert host(x)[0, 0] == 99
    before = un.stats()["bytes_copied"]
    un.from_dlpack(x, copy=False)
    assert un.stats()["bytes_copied"] == before
    z = un.from_dlpack(x, copy=True)
    z[0, 0] = 5
    assert host(x)[0, 0] == 99
    del x, y
    assert host(z)[0, 0] == 5


def test_tensors_that_nobody_takes_are_given_back(place):
    _, name = place
    x = un.ones(1000, device=name) + 1
    capsule = x.__dlpack__()
    del capsule
    capsule = x.__dlpack__(max_version=(1, 0))
    del x
    assert "dltensor_versioned" in repr(capsule)


def test_numpy_gets_a_copy_where_it_asks_for_the_cpu(place):
    _, name = place
    x = un.arange(5.0, device=name) * 2
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), [0, 2, 4, 6, 8])
    assert x.memory == "device"


def test_host_arrays_go_to_the_device_that_is_asked_for(place):
    number, name = place
    x = un.from_dlpack(OnDevice(un.arange(4.0), (4, number)))
    assert x.device == name and host(x).tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match=r"there is no device \(4, 77\) of DLPack's here"):
        un.ones(3).__dlpack__(dl_device=(4, 77))


class OnDevice:
    """Asks the array for a device."""

    def __init__(self, x, device):
        self.x, self.device = x, device

    def __dlpack__(self, **options):
        return self.x.__dlpack__(dl_device=self.device, **options)


def test_the_host_sees_shared_memory(place):
    _, name = place
    x = un.empty((3, 4), memory="shared", device=name)
    x[...] = 1.5
    part = x[1:, ::2]
    before = un.stats()["bytes_copied"]
    for seen in (
        np.from_dlpack(part, device="cpu"),
        np.from_dlpack(part, device="cpu", copy=False),
    ):
        seen[0, 1] = 7
        part += 1
        np.testing.assert_array_equal(seen, [[2.5, 8], [2.5, 2.5]])
        part -= 1
        part[0, 1] = 1.5
    assert un.stats()["bytes_copied"] == before
    copied = np.from_dlpack(part, device="cpu", copy=True)
    copied[...] = 9
    np.testing.assert_array_equal(host(part), np.full((2, 2), 1.5))


@pytest.mark.parametrize("n", [0, 1, 1000, 600_000])
def test_the_host_sees_memory_that_is_its_own(place, n):
    _, name = place
    if un._engine._find_device(name).kind != "cpu":
        pytest.skip("the device's memory is its own")
    before = un.stats()["bytes_copied"]
    x = un.arange(n + 2, dtype="float64", device=name) * 2
    y = x[1:-1]
    seen = np.from_dlpack(y, device="cpu", copy=False)
    np.testing.assert_array_equal(seen, np.arange(n) * 2.0 + 2)
    x += 1
    np.testing.assert_array_equal(seen, np.arange(n) * 2.0 + 3)
    seen[...] = 5
    queue = un.Queue(name)
    with un.device(queue=queue):
        z = x * 2
    np.testing.assert_array_equal(host(z), [2] + [10] * n + [n * 4 + 6])
    assert x.device == name and un.stats()["bytes_copied"] == before + z.nbytes
    del seen
    x[...] = 3.0
    assert float(y.sum()) == 3 * n


def test_memory_that_others_know_is_not_moved(place):
    _, name = place
    x = un.ones(10, device=name)
    theirs = un.from_dlpack(x)
    with pytest.raises(BufferError, match="cannot be seen on cpu without a copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    theirs[0] = 4
    assert float(x[0]) == 4
