"""The methods of rank_methods.py under mpirun.

The rest of the program runs this file as an MPI job; rank 0 writes what happens as lines of JSON to standard output.

    mpirun -n 2 python examples/laplace/on_ranks.py SIZE DTYPE LARGE_SIZE SWEEPS FOLDER
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

if __package__:
    from . import problem, show
    from .method import Outcome, seconds_per_sweep, solve
else:  # started by mpirun as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from laplace import problem
    from laplace.method import seconds_per_sweep, solve

RANKS = 2


def work(size, dtype, large_size, count, folder):
    """What each rank does; only rank 0 speaks."""
    import unisono as un

    from laplace import rank_methods

    comm = un.mpi.COMM_WORLD

    def say(**what):
        if comm.rank == 0:
            print(json.dumps(what), flush=True)

    for number, make in enumerate(rank_methods.METHODS):
        method = make(comm)
        name = f"{method.name}, {comm.size} ranks"
        say(name=name)
        outcome = solve(
            method,
            problem.make_field(size, dtype),
            lambda sweeps, change: say(sweeps=sweeps, change=change),
        )
        if comm.rank == 0:
            np.save(Path(folder, f"{number}.npy"), outcome.field)
        method.start(problem.make_field(large_size, dtype))
        method.sweep(2)
        fits = comm.bcast(int(0.3 / seconds_per_sweep(method, 5)))  # sweeps in a third of a second
        turns = [seconds_per_sweep(method, max(1, min(count, fits))) for _ in range(7)]
        large = float(np.median(turns))
        method.close()
        say(done=number, sweeps=outcome.sweeps, seconds=outcome.seconds, large=large)
    say(end=True)


def why_missing():
    """Say why these methods do not exist here, or return an empty text."""
    if shutil.which("mpirun") is None:
        return "mpirun was not found (Debian: openmpi-bin)"
    try:
        import unisono as un
    except ImportError as error:
        return f"unisono cannot be imported: {error}"
    return "" if hasattr(un, "mesh") else "this version of unisono has no un.mesh"


def solve_on_ranks(size, dtype, large_size, count):
    """Run the methods under mpirun; return their Outcomes."""
    if missing := why_missing():
        return [Outcome(f"{RANKS} MPI ranks", missing=missing)]
    with tempfile.TemporaryDirectory() as folder:
        command = ["mpirun", "-n", str(RANKS), sys.executable, __file__]
        command += [str(size), dtype, str(large_size), str(count), folder]
        errors = Path(folder) / "errors.txt"
        with (
            errors.open("w") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as job,
        ):
            try:
                outcomes, ended = follow(job.stdout, folder)
            except BaseException:
                job.terminate()
                raise
        if job.returncode != 0 or not ended:
            lines = [line for line in errors.read_text().splitlines() if "Error: " in line]
            reason = lines[0].strip() if lines else f"mpirun ended with status {job.returncode}"
            for outcome in outcomes[-1:] or [Outcome(f"{RANKS} MPI ranks")]:
                outcome.missing = reason
                outcomes[-1:] = [outcome]
        return outcomes


def follow(lines, folder):
    """Show what rank 0 says; return Outcomes, and whether it came to its end."""
    outcomes, progress, ended = [], None, False
    for line in lines:
        if not line.startswith("{"):
            continue
        said = json.loads(line)
        ended = "end" in said
        if "name" in said:
            outcomes.append(Outcome(said["name"]))
            progress = show.Progress(said["name"])
        elif "change" in said:
            progress(said["sweeps"], said["change"])
        elif "done" in said:
            progress.close()
            outcome = outcomes[-1]
            outcome.field = np.load(os.path.join(folder, f"{said['done']}.npy"))
            outcome.sweeps, outcome.seconds = said["sweeps"], said["seconds"]
            outcome.large = said["large"]
            show.say(f"  {outcome.name}: {outcome.sweeps} sweeps in {outcome.seconds:.2f} s")
    return outcomes, ended


if __name__ == "__main__":
    work(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
