"""Devices are kept by pickles and copies."""

import copy
import pickle

import numpy as np
import pytest
import unisono as un


def test_copies_are_the_device(device):
    assert copy.copy(device) is device and copy.deepcopy(device) is device
    assert copy.deepcopy({"device": device}) == {"device": device}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_name_the_device(device, protocol):
    again = pickle.loads(pickle.dumps(device, protocol))
    assert again == device and hash(again) == hash(device) and type(again) is un.Device
    x = un.ones(3, device=again) + 1
    assert np.asarray(x).tolist() == [2] * 3 and x.device == device


def test_a_device_that_is_not_here():
    text = pickle.dumps(un.devices()[0], 0).replace(b"Vcpu\n", b"Vopencl:gpu:99\n")
    with pytest.raises(un.DeviceError, match="there is no device .opencl:gpu:99."):
        pickle.loads(text)
