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
    with pytest.raises(BufferError, match="cannot be seen on cpu without a copy; got copy=False"):
        x.__dlpack__(dl_device=(1, 0), copy=False)


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
