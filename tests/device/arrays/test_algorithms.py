"""The algorithms that the engine contains are those of the Python files beside them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_trees_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/algorithm_trees.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
