"""Programs that were written for PyCUDA run with only their imports changed, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import unisono as un

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("place", [*map(str, un.devices()), "interp"])
@pytest.mark.parametrize(
    ("name", "last"), [("tutorial.py", "doubled on "), ("generated.py", "all sums are right")]
)
def test_program(name, last, place):
    done = subprocess.run(
        [sys.executable, PROGRAMS / name],
        env={**os.environ, "UNISONO_DEVICE": place},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(last)
