"""Rows of run.py on two MPI ranks: ours on a mesh, the program with mpi4py, and ours on the threads of one process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Program, size, and how often it is repeated for one time.
PROGRAMS = {
    "ranks-laplace-4000": ("laplace", 4000, 20),
    "ranks-laplace-1000": ("laplace", 1000, 200),
    "ranks-conjugate-gradient": ("conjugate_gradient", 2000, 20),
    "ranks-wave": ("wave", 2000, 20),
    "ranks-sort": ("sort", 10**7, 2),
    "ranks-fft": ("fft2", 2048, 3),
    "ranks-matmul": ("matmul", 2048, 3),
    "ranks-halos": ("laplace", 1000, 100),
}


def measure(name, who):
    program, size, repeats = PROGRAMS[name]
    script = "peers.py" if who == "mpi4py" else "ours.py"
    command = [sys.executable, str(HERE / script), program, str(size), str(repeats)]
    environment = dict(os.environ)
    if who == "threads":
        command.append("threads")
    else:
        if not shutil.which("mpirun"):
            raise RuntimeError("mpirun is not installed (Debian: openmpi-bin)")
        command = ["mpirun", "-n", "2", *command, "halos" if name == "ranks-halos" else "mesh"]
        # One core a rank; containers often have root alone.
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environment |= dict.fromkeys(
            ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"
        )
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{' '.join(command)} failed")
    times = [float(word) for word in done.stdout.split()]
    # Of halos the last time is that of several sweeps, the one before it that of single ones.
    return times[-2 if who == "each-sweep" else -1]
