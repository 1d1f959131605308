"""OpenCL present, absent, and at the end of a process."""

import os
import subprocess
import sys

import pytest
import unisono as un

has_opencl = any(str(d).startswith("opencl") for d in un.devices())
needs_opencl = pytest.mark.skipif(not has_opencl, reason="no OpenCL device")


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_without_a_driver_there_is_no_device(tmp_path):
    # The loader finds drivers in this folder: an empty one is a machine without drivers.
    program = """
import unisono as un
print([str(d) for d in un.devices()])
try:
    un.zeros(3, device="opencl")
except un.DeviceError as e:
    print(e)
"""
    done = run(program, OCL_ICD_VENDORS=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "opencl" not in done.stdout.splitlines()[0]
    assert "there is no device 'opencl'" in done.stdout.splitlines()[1]


@needs_opencl
def test_a_process_ends_with_arrays_alive():
    program = """
import unisono as un
a = un.ones((50, 50), device="opencl")
b = (a + 1).sum(axis=0)
print(float(b[0]))
c = a * 2  # recorded, never evaluated
"""
    done = run(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "100.0\n", "")


@needs_opencl
def test_debug_level_4_shows_the_source():
    program = "import unisono as un; float((un.ones(9, device='opencl') * 3)[1])"
    done = run(program, UNISONO_DEBUG="4")
    assert done.returncode == 0, done.stderr
    assert "OpenCL C for opencl" in done.stderr
    assert "__kernel void" in done.stderr and "FP_CONTRACT OFF" in done.stderr
