"""Fixtures shared by all tests: the devices present, and a compile cache of this run's own."""

import os
import tempfile
from collections import defaultdict

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


def pytest_addoption(parser):
    parser.addoption(
        "--short",
        action="store_true",
        help="no tests marked slow, no OpenCL devices, and few variants of each test",
    )


def pytest_collection_modifyitems(config, items):
    """With --short: of each test at most six variants, spread evenly over all."""
    if not config.getoption("--short"):
        return
    variants = defaultdict(list)
    for item in items:
        on_opencl = "opencl" in item.nodeid.partition("[")[2]
        if not item.get_closest_marker("slow") and not on_opencl:
            variants[item.nodeid.partition("[")[0]].append(item)
    kept = {id(i) for all_of in variants.values() for i in all_of[:: -(-len(all_of) // 6)]}
    config.hook.pytest_deselected(items=[i for i in items if id(i) not in kept])
    items[:] = [i for i in items if id(i) in kept]


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
