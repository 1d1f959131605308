"""Modules marked ``everywhere`` run once more with new arrays on a device, but for tests marked ``host_only``."""

import pytest
import unisono as un
from jit_devices import far_devices


def pytest_generate_tests(metafunc):
    node = metafunc.definition
    if not node.get_closest_marker("everywhere") or node.get_closest_marker("host_only"):
        return
    metafunc.parametrize("place", ["cpu", *far_devices()], indirect=True)


@pytest.fixture(autouse=True)
def place(request):
    """Where arrays are made that name no device."""
    device = getattr(request, "param", "cpu")
    if device == "cpu":
        yield device
        return
    if mark := request.node.get_closest_marker("host_only"):
        pytest.skip(mark.args[0])
    un._engine._set_setting("device", device)
    yield device
    un._engine._set_setting("device", "cpu")
