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
