"""The statement of numpy_slices.py as it stands, on arrays whose rows are distributed over MPI ranks.

The rest of the program runs this file under mpirun; each rank computes its rows, and rank 0 writes what happens as lines
of JSON to standard output.

    mpirun -n 2 python examples/laplace/on_ranks.py SIZE DTYPE LARGE_SIZE SWEEPS RESULT.npy
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

if __package__:
    from . import problem
    from .method import Method, Outcome, seconds_per_sweep, solve, try_out
    from .numpy_slices import solve as step
else:  # started by mpirun as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from laplace import problem
    from laplace.method import Method, Outcome, seconds_per_sweep, solve, try_out
    from laplace.numpy_slices import solve as step

RANKS = 2


class DistributedSlices(Method):
    """The statement of numpy_slices.py on arrays distributed over the ranks of a mesh."""

    name = f"slices on {RANKS} MPI ranks"
    step = staticmethod(step)

    def __init__(self, mesh):
        self.mesh = mesh

    def place(self, u):
        import unisono as un

        placed = un.zeros(u.shape, dtype=u.dtype.name, mesh=self.mesh)
        placed[0, :] = problem.TOP
        placed[:, 0] = problem.LEFT
        placed[:, -1] = problem.RIGHT
        return placed

    def wait(self):
        import unisono as un

        un.synchronize()
        self.mesh.barrier()

    def field(self):
        return np.asarray(self.u)  # all ranks gather


def work(size, dtype, large_size, count, result):
    """What each rank does; only rank 0 speaks."""
    import unisono as un

    mesh = un.mesh("mpi")

    def say(**what):
        if mesh.rank == 0:
            print(json.dumps(what), flush=True)

    method = DistributedSlices(mesh)
    try_out(method)
    outcome = solve(
        method,
        problem.make_field(size, dtype),
        lambda sweeps, change: say(sweeps=sweeps, change=change),
    )
    if mesh.rank == 0:
        np.save(result, outcome.field)
    method.start(problem.make_field(large_size, dtype))
    method.sweep(2)
    large = float(np.median([seconds_per_sweep(method, count) for _ in range(7)]))
    method.close()
    say(done=True, sweeps=outcome.sweeps, seconds=outcome.seconds, large=large)


def why_missing():
    """Say why this method does not exist here, or return an empty text."""
    import unisono as un

    if shutil.which("mpirun") is None:
        return "mpirun was not found (Debian: openmpi-bin)"
    if not hasattr(un, "mesh"):
        return "this version of unisono has no un.mesh"
    return ""


def solve_on_ranks(size, dtype, large_size, count, progress):
    """Run the method under mpirun; return its Outcome."""
    missing = Outcome(DistributedSlices.name, missing=why_missing())
    if missing.missing:
        return missing
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "field.npy"
        command = ["mpirun", "-n", str(RANKS), sys.executable, __file__]
        command += [str(size), dtype, str(large_size), str(count), str(result)]
        errors = Path(folder) / "errors.txt"
        with (
            errors.open("w") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as job,
        ):
            try:
                last = follow(job.stdout, progress)
            except BaseException:
                job.terminate()
                raise
        if job.returncode != 0 or not last.get("done"):
            lines = [line for line in errors.read_text().splitlines() if "Error: " in line]
            reason = lines[0].strip() if lines else f"mpirun ended with status {job.returncode}"
            missing.missing = reason
            return missing
        return Outcome(
            DistributedSlices.name,
            field=np.load(result),
            sweeps=last["sweeps"],
            seconds=last["seconds"],
            large=last["large"],
        )


def follow(lines, progress):
    """Pass on what rank 0 says; return its last message."""
    last = {}
    for line in lines:
        if not line.startswith("{"):
            continue
        last = json.loads(line)
        if "change" in last:
            progress(last["sweeps"], last["change"])
    return last


if __name__ == "__main__":
    work(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
