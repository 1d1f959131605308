"""The package imports, in a process of its own too, and brings in nothing that it does not need."""

import json
import re
import subprocess
import sys

PROBE = """
import json, sys, threading
before = set(sys.modules)
import unisono
with open("/proc/self/maps") as f:
    libraries = {line.split("/")[-1].strip() for line in f if ".so" in line}
with open("/proc/self/status") as f:
    threads = next(int(line.split()[1]) for line in f if line.startswith("Threads:"))
print(json.dumps({"modules": sorted(set(sys.modules) - before), "libraries": sorted(libraries), "threads": threads}))
"""


def probe():
    out = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def test_version(un):
    assert re.fullmatch(r"\d+\.\d+\.\d+", un.__version__)


def test_import_loads_neither_numpy_nor_vendor_libraries():
    seen = probe()
    assert "numpy" not in seen["modules"]
    heavy = re.compile(r"lib(LLVM|OpenCL|cuda|mpi|tbb|sleef)")
    assert [name for name in seen["libraries"] if heavy.match(name)] == []


def test_import_starts_no_thread():
    assert probe()["threads"] == 1


def test_import_loads_little_of_python():
    """What other modules need of it is done once they are imported."""
    seen = set(probe()["modules"])
    assert not seen & {"numbers", "operator", "types", "unisono._runtime", "unisono.mpi"}
    program = """
import unisono as un
import numbers
print(isinstance(un.float32(1), numbers.Real), isinstance(un.int8(1), numbers.Integral))
"""
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert out.stdout.split() == ["True", "True"]


def test_types_of_messages_are_made_for_programs_that_send():
    program = """
import unisono as un
print(hasattr(un._engine, "_Comm"), un.mpi.COMM_SELF.allreduce(2), hasattr(un._engine, "_Comm"))
"""
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert out.stdout.split() == ["False", "2", "True"]


def test_linear_algebra_leaves_numpy_unloaded():
    probe = """
import sys
import unisono as un

un.linalg.det(un.asarray([[1.0, 2.0], [3.0, 4.0]])), un.random.random(3), un.linalg.cond(un.eye(2), 1)
print("numpy" in sys.modules, "LinAlgError" in dir(un.linalg))
try:
    un.linalg.inv(un.zeros((2, 2)))
except un.linalg.LinAlgError:
    import numpy
print(un.linalg.LinAlgError is numpy.linalg.LinAlgError)
"""
    out = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True)
    assert out.stdout.split() == ["False", "True", "True"]


def test_compiling_loads_no_more_than_is_named(tmp_path):
    """Loops and kernels name words of the package, whose other names stay unloaded."""
    program = tmp_path / "program.py"
    program.write_text("""
import sys
import unisono as un

@un.njit
def f(n):
    s = 0.0
    for i in un.prange(n):
        s += un.sqrt(float(i))
    return s

assert f(5) > 6
print([m for m in ("numpy", "unisono._raw.kernels", "unisono.array_api", "unisono.mpi") if m in sys.modules])
""")
    out = subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
    assert out.stdout == "[]\n"


def test_first_calls_load_no_more_than_they_need():
    """Records, dates, derived classes and the typing module wait for programs that use them."""
    program = """
import sys
import unisono as un

x = un.tile(un.asarray([1.0, 2.0]), 2)
x = un.concatenate([x, un.ones(2, "float64")])
assert un.allclose(x, x) and un.unique(x).size == 2
un.linalg.det(un.eye(2)), un.where(x[-1] > 0, x[0], x), un.lib.stride_tricks.as_strided(x, (2,), (8,))
names = "datetime pickle typing numpy unisono._records.records unisono._arrays.subclasses"
print([name for name in names.split() if name in sys.modules])
"""
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert out.stdout == "[]\n"


def test_import_without_docstrings():
    """As `python -OO` runs programs."""
    code = "import unisono.mpi.futures, unisono.cuda.scan, unisono.dpctl.memory"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, timeout=60)
