"""Modules marked ``everywhere`` run once more with compiled functions on a device: arrays are copied there and back.

Functions that a module decorates at its top, and those whose decorator names a device, run where they do anyhow; so do
tests marked ``host_only``.
"""

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
    """Where the functions that the test decorates run."""
    device = getattr(request, "param", "cpu")
    if device == "cpu":
        yield device
        return
    if mark := request.node.get_closest_marker("host_only"):
        pytest.skip(mark.args[0])
    here = un.jit

    def jit(function=None, *, device=device, **options):
        return here(function, device=device, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(un, "jit", jit)
        patch.setattr(un, "njit", jit)
        yield device
