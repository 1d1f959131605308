"""Programs that were published for PyOpenCL run with only their import changed, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def run(ctx):
    """Runs Python in the folder of the programs; the lines that it prints."""

    def program(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=PROGRAMS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return program


def test_laplace(run):
    code = (
        "from laplace import solve; u = solve(32); print(solve.iterations, u.astype(float).sum())"
    )
    iterations, total = run("-c", code)[-1].split()
    assert iterations == "2001"
    assert float(total) == pytest.approx(57623.79764, abs=5e-6)


def test_vector_addition(run):
    assert run("vadd.py") == []
