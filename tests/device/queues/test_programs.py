"""Programs that drivers built are kept on disk."""

import os
import subprocess
import sys

import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
SAFETY_NET = 120
PROGRAM = """
import os
import sys
import numpy as np
import unisono as un

x = un.asarray(np.arange(1000.0), device="opencl")
y = x * 3 + float(sys.argv[1])
np.testing.assert_array_equal(np.asarray(y.to_device("cpu")), np.arange(1000.0) * 3 + float(sys.argv[1]))
print(len(os.listdir(os.environ["UNISONO_CACHE_DIR"])))
if "fork" in sys.argv and os.fork() == 0:
    sys.exit()
"""


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        env={**os.environ, "UNISONO_CACHE_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done


def test_binaries_are_kept_for_later_processes(tmp_path):
    run(tmp_path, "1")
    kept = {f: f.stat().st_mtime_ns for f in tmp_path.iterdir()}
    assert len(kept) == 1
    run(tmp_path, "2")  # the number is an argument of the kernel
    assert {f: f.stat().st_mtime_ns for f in tmp_path.iterdir()} == kept


def test_a_damaged_binary_is_built_anew(tmp_path):
    run(tmp_path, "1")
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    run(tmp_path, "3")
    assert file.read_bytes()[:64] == whole[:64] and file.stat().st_size >= len(whole) // 2


def test_children_of_fork_leave_the_driver_alone(tmp_path):
    run(tmp_path, "1", "fork")
