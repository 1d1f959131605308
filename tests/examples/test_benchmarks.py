"""benchmarks/run.py measures, writes JSON, and says what is wrong or missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "benchmarks/run.py"


def run(*arguments):
    return subprocess.run([sys.executable, str(RUN), *arguments], capture_output=True, text=True)


@pytest.mark.slow
def test_one_benchmark_and_its_record(tmp_path):
    done = run("small", "--pairs=1", f"--out={tmp_path}")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "results.json").read_text())["results"][0]
    assert record["name"] == "small" and record["median"] > 0
    assert record["peers"]["numpy"]["ratio"] > 0
    assert (tmp_path / "ratios.png").exists()


def test_a_peer_that_is_not_there(tmp_path):
    no_peers = tmp_path / "python"
    no_peers.write_text("#!/bin/sh\nexit 1\n")
    no_peers.chmod(0o755)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import run; print(run.why_missing('jax', sys.argv[2]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(RUN.parent), str(no_peers)],
        capture_output=True,
        text=True,
    )
    assert "jax cannot be imported; " in done.stdout and "pip install jax" in done.stdout


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("speed", "no benchmark 'speed'; expected jacobi-slices"),
        ("--pairs=0", "expected at least 1; got 0"),
    ],
)
def test_wrong_arguments(argument, message):
    done = run(argument)
    assert done.returncode == 2 and message in done.stderr
