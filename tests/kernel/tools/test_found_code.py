"""Code that is found on disk runs without the passes that made it; what they made is there when it is needed."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
import unisono as un

@un.jit
def shifted(x, first, n):
    total = 0.0
    for i in range(n):
        total += x[i + first]
    return total

@un.jit
def divided(x, n):
    for i in un.prange(n):
        x[i] = 100 // (i - 5)

x = np.arange(10.0)
print(shifted(x, 2, 8))
print(shifted(x, -3, 5))  # its checked version is compiled when it first runs
for call in (lambda: shifted(x, 4, 8), lambda: divided(np.zeros(9), 9)):
    try:
        call()
    except Exception as e:
        print(type(e).__name__, e)
if sys.argv[1:]:
    print("fadd" in shifted.inspect_llvm(), "ret" in shifted.inspect_asm())
"""


def run(folder, *args):
    environment = {**os.environ, "UNISONO_CACHE_DIR": str(folder / "cache")}
    file = folder / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file), *args], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_results_faults_and_listings_are_those_of_compiled_code(tmp_path):
    compiled = run(tmp_path, "list")
    assert compiled.splitlines()[:2] == ["44.0", "25.0"], compiled
    assert "IndexError" in compiled and "ZeroDivisionError" in compiled
    entries = {p: p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()}
    assert entries
    assert run(tmp_path, "list") == compiled
    assert run(tmp_path) == "".join(compiled.splitlines(keepends=True)[:-1])
    # Nothing was compiled again.
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()} == entries
