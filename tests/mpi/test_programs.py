"""The programs of examples/clusters, in the job that runs these tests: the same output on any number of ranks."""

import runpy
import sys
from pathlib import Path

import pytest
import unisono as un

mesh = un.mesh("mpi")
folder = Path(__file__).resolve().parents[2] / "examples" / "clusters"

EXPECTED = {
    ("conjugate_gradient", "50"): "50 x 50: 95 steps, 0.073601 in the middle",
    ("wave", "60", "40"): "60 x 60, 40 steps: energy 1.549430 at the start, 1.571775 at the end",
    ("sort", "20001"): "20001 keys in order; the median is 0.5000, and 4999 lie above 0.75",
    ("matmul", "40"): "40 x 40: norm of the product 38.490351, largest error of the solution ",
}


@pytest.mark.parametrize("command", EXPECTED, ids=lambda c: c[0])
def test(command, monkeypatch, capsys):
    name, *arguments = command
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(folder / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert said.startswith(EXPECTED[command]) if mesh.rank == 0 else not said
