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
    metafunc.fixturenames.append("place")
    metafunc.parametrize("place", ["cpu", *far_devices()], indirect=True)


@pytest.fixture
def place(request, monkeypatch):
    """Where the functions that the test decorates run."""
    if request.param != "cpu":
        here = un.jit

        def jit(function=None, *, device=None, **options):
            return here(function, device=device or request.param, **options)

        monkeypatch.setattr(un, "jit", jit)
        monkeypatch.setattr(un, "njit", jit)
    return request.param
