"""The algorithms that the engine contains are those of the Python files beside them, and end."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import unisono as un

ROOT = Path(__file__).parents[3]


def test_the_trees_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/algorithm_trees.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def module(name):
    """The Python file of algorithms of that name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"engine/algorithms/{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def of_three(n, row):
    """Hessenberg matrices, of which the second has no eigenvalues."""
    a = np.zeros((3, n, row))
    a[:, :, :n] = np.triu(np.random.default_rng(1).random((3, n, n)), -1)
    a[1, n // 2, n // 2] = np.nan
    return a.reshape(-1)


def test_steps_without_end_are_counted_for_small_matrices(device):
    """No finite matrix is known that needs so many; `linalg.eig` raises what a failed matrix stands for."""
    n, schur = 4, module("schur")
    for dtype, find in (("float64", schur.real_schur), ("complex128", schur.complex_schur)):
        h = un.asarray(of_three(n, n).astype(dtype), device=device)
        v, line = (un.zeros(3 * n * k, dtype, device=device) for k in (n, 1))
        norms, values = (un.zeros(3 * k, device=device) for k in (1, 2 * n))
        if dtype == "complex128":
            values = un.zeros(3 * n, dtype, device=device)
        failed = un.asarray([3], device=device)
        least = (1e-280,) if dtype == "complex128" else ()
        find[3](h, v, line, values, norms, failed, n, 2.0**-52, *least)
        assert failed.tolist() == [1]
        if dtype == "float64":
            parts = np.asarray(values).reshape(3, n, 2)
            assert np.isfinite(parts[[0, 2]]).all()


@un.jit
def same(x):
    return x


def test_sweeps_without_end_are_counted_for_large_matrices(device):
    n, row, window, bulges = 80, 88, 64, 10
    sweeps = module("bulges")
    h = un.asarray(of_three(n, row), device=device)
    sizes = (window**2, window**2, 3 * bulges, 3 * bulges, 4 * bulges**2)
    u, columns, shifts, turns, block = (un.zeros(3 * size, device=device) for size in sizes)
    norms, state = un.zeros(3, device=device), un.zeros(24, "int64", device=device)
    failed, left_over = (un.asarray([k], device=device) for k in (3, 1))
    sweeps.begin_sweeps[3](h, norms, state, n, row)
    lanes = sweeps.lane_alone, sweeps.lanes_alone, sweeps.meet_alone
    while int(left_over[0]) > 0:
        left_over[0] = 0
        sweeps.move_bulges[3, 1](
            h, u, columns, shifts, turns, block, norms, state, left_over, failed, *lanes, same,
            n, row, window, bulges, 0, 1, 2.0**-52,
        )  # fmt: skip
    assert failed.tolist() == [1]
    assert (np.asarray(state).reshape(3, 8)[:, 0] == -1).all()
