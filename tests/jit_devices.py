"""Devices on which host arrays can be used in compiled functions, for parametrised tests."""

import pytest


def _is_present(name):
    import unisono as un

    @un.jit(device=name)
    def probe(x):
        return x

    try:
        probe(1)
    except un.DeviceError:
        return False
    return True


def host_devices():
    """Parameters for each host device: the interpreter, and the CPU where it can compile."""
    present = [name for name in ("interp", "cpu") if _is_present(name)]
    return [pytest.param(name, id=name) for name in present]


def far_devices():
    """The first device to which calls copy arrays of the host, and from which they bring them back."""
    import unisono as un

    return [d.name for d in un.devices("opencl")[:1]]


def all_devices():
    """Those of `host_devices`, and a device to which arrays are copied."""
    return [*host_devices(), *(pytest.param(name, id=name) for name in far_devices())]
