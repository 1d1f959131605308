"""The programs of examples/clusters, in the job that runs these tests: the same output on any number of ranks."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
folder = Path(__file__).resolve().parents[2] / "examples" / "clusters"

EXPECTED = {
    ("conjugate_gradient", "50"): "50 x 50: 95 steps, 0.073601 in the middle",
    ("wave", "60", "40"): "60 x 60, 40 steps: energy 1.549430 at the start, 1.571775 at the end",
    ("sort", "20001"): "20001 keys in order; the median is 0.5000, and 4999 lie above 0.75",
    ("matmul", "40"): "40 x 40: norm of the product 38.490351, largest error of the solution ",
    ("global_arrays/pi", "100000"): "100000 points, 78532 inside: pi is about 3.1413",
    ("global_arrays/transpose", "60", "41"): "60 x 41: transposed: True",
    (
        "global_arrays/matrix_multiply",
        "50",
    ): "50 x 50: trace of the product 9996, largest difference from gemm 0",
    ("global_arrays/irregular",): "blocks of 4, 8, ... rows belong to ranks 0, 1, ...: True",
}


@pytest.mark.parametrize("command", EXPECTED, ids=lambda c: c[0])
def test(command, monkeypatch, capsys):
    name, *arguments = command
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(folder / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert said.startswith(EXPECTED[command]) if mesh.rank == 0 else not said


needs_neighbours = pytest.mark.skipif(mesh.size < 2, reason="the program is for two ranks or more")


@needs_neighbours
@pytest.mark.skipif(mesh.size > 3, reason="waits often: two and three ranks are enough")
def test_laplace_on_a_global_array(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["laplace", "32"])
    names = runpy.run_path(str(folder / "global_arrays/laplace.py"), run_name="__main__")
    assert names["iteration"] == 1400
    field = np.asarray(names["ga"].get(names["g_a"]))
    assert f"{field.sum(dtype=np.float64):.5f}" == "57598.61022"
    assert capsys.readouterr().out.startswith("1400\n" if mesh.rank == 0 else "")


def field_by_numpy(top, left, right, bottom, dim, sweeps):
    u = np.zeros((dim, dim))
    u[0], u[-1] = top, bottom
    u[:, 0], u[:, -1] = left, right
    for _ in range(sweeps):
        inner = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4
        u[1:-1, 1:-1] = inner
    return u


@needs_neighbours
@pytest.mark.parametrize("how", ["python", "loops", "slices", "threads"])
@pytest.mark.parametrize("place", ["numpy", *map(str, un.devices())])
def test_messages_give_the_bits_of_one_rank(how, place):
    if how != "slices" and place not in ("numpy", "cpu"):
        pytest.skip("loops compute on the host")
    if how == "python" and place != "numpy":
        pytest.skip("two million elements, one by one")
    program = runpy.run_path(str(folder / "messages.py"), run_name="messages")
    solve = program["loops"].py_func if how == "python" else program[how]
    comm, dim = un.mpi.COMM_WORLD, 24
    u, u_new = program["initialize"](dim, comm, comm.rank, comm.size)
    top, bottom = comm.bcast(u[0, 1], 0), comm.bcast(u[-1, 1], comm.size - 1)
    left, right = u[2, 0], u[2, -1]
    if place != "numpy":
        u, u_new = un.asarray(u, device=place), un.asarray(u_new, device=place)
    assert len(u) <= dim // comm.size + 2  # no rank holds the whole
    sweeps = program["run"](u, u_new, comm, comm.rank, comm.size, solve)
    mine = np.asarray(u_new if place == "numpy" else u_new.to_device("cpu"))
    wanted = field_by_numpy(top, left, right, bottom, dim, sweeps)
    first = comm.rank * (dim // comm.size)
    own = mine[1:] if comm.rank else mine
    assert np.array_equal(own[: dim // comm.size], wanted[first : first + dim // comm.size])
