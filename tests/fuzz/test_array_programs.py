"""Random array programs give NumPy's values, dtypes, shapes and exceptions on every executor and device.

UNISONO_FUZZ_PROGRAMS sets how many programs each test runs, UNISONO_FUZZ_SEED the first seed.
"""

import os

import numpy as np
import pytest
import unisono as un

from fuzz.array_programs import Program

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 60))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))


@pytest.fixture(params=["auto", "block", "interp", "cpu"])
def executor(request):
    if request.param == "cpu" and "cpu" not in un._engine._backend_reports():
        pytest.skip("no compiler for the CPU here")
    before = next(row[4] for row in un._engine._settings() if row[0] == "executor")
    un._engine._set_setting("executor", request.param)
    yield request.param
    un._engine._set_setting("executor", before)


def run_all(count, **options):
    for seed in range(FIRST, FIRST + count):
        Program(seed, **options).run()


def test_programs_on_executors(executor):
    run_all(COUNT if executor in ("auto", "block") else max(1, COUNT // 6))


def test_programs_eagerly():
    with un.eager():
        run_all(COUNT // 2)


def test_programs_on_devices(device):
    if str(device) == "cpu":
        pytest.skip("the executors' test runs these")
    run_all(max(1, COUNT // 20), device=device, length=15)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64"])
def test_sorts_of_long_arrays(dtype):
    """Long enough for the vectorised sort, on several threads: the sanitizers run it, too."""
    for n in (20_000, 300_000):
        host = (np.random.default_rng(n).standard_normal(n) * 1000).astype(dtype)
        assert np.array_equal(np.asarray(un.sort(un.asarray(host.copy()))), np.sort(host))
