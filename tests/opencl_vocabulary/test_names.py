"""docs/pyopencl.md says which of PyOpenCL's names there are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/pyopencl_doc.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
