"""The page that says which primitive runs where is what the devices do."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import unisono as un
from unisono import _engine

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts/coverage_doc.py"


def test_each_primitive_has_an_example():
    spec = importlib.util.spec_from_file_location("coverage_doc", SCRIPT)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert sorted(page.EXAMPLES) == sorted(
        [*page.TAPE, *(name for name, *_ in _engine._primitives())]
    )


@pytest.mark.slow
def test_the_page_is_fresh():
    if [str(d) for d in un.devices()] != ["cpu", "opencl:cpu:0"]:
        pytest.skip("other devices than those of the page")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
