"""Fixtures shared by all tests: the devices present, and a compile cache of this run's own."""

import os
import tempfile

import driver_of_tests
import pytest

# Before unisono is imported: a run neither reads nor fills the user's cache of kernels.
_cache = tempfile.TemporaryDirectory(prefix="unisono-test-cache-")
os.environ.setdefault("UNISONO_CACHE_DIR", _cache.name)

# Tests below tests/mpi are collective: they are collected by the ranks of an MPI job only.
if "OMPI_COMM_WORLD_SIZE" not in os.environ and "PMI_SIZE" not in os.environ:
    collect_ignore = ["mpi"]


def pytest_generate_tests(metafunc):
    """Run a test that takes ``device`` once for each device present."""
    if "device" in metafunc.fixturenames:
        import unisono as un

        devices = list(un.devices())
        metafunc.parametrize("device", devices, ids=[str(device) for device in devices])


@pytest.fixture(autouse=True)
def cuda_driver():
    """The CUDA driver of tests (tests/cuda_driver/) where it is used: no test may misuse it."""
    driver = driver_of_tests.find()
    before = driver.count("violations") if driver else 0
    yield driver
    if driver and driver.count("violations") != before:
        pytest.fail("CUDA driver of tests: " + driver.last_violation())


@pytest.fixture
def un():
    """The package under test."""
    import unisono

    return unisono
