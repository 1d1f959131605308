"""MPI jobs of their own that tests start: programs on a number of ranks."""

import os
import select
import subprocess
import sys
import textwrap

# Lines are written in one piece, beside the other ranks': unbuffered, words of two ranks come mixed.
HEAD = (
    "import numpy as np, unisono as un, functools; print = functools.partial(print, flush=True)\n"
)
# Seconds that a job may take: on a machine that others use it runs many times slower. pytest's own limit is behind it.
LIMIT = 500
# What a launcher tells its ranks: a job that one of them starts must not take it for its own.
_OF_LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "ORTE_", "HWLOC_")


def command_of(folder, ranks, text, *arguments, head=HEAD, options=(), **settings):
    """Arguments of Popen that start a program on that many ranks.

    `text`: of the program, which is stored in the folder behind `head`; None: it is there. `options`: of Python.
    `settings`: environment variables.
    """
    program = folder / "program.py"
    if text is not None:
        program.write_text(head + textwrap.dedent(text))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_OF_LAUNCHERS)}
    environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "EVENT_NOEPOLL": "1"} | settings
    if os.getuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    environment.pop("PYTHONUNBUFFERED", None)
    unbuffered = () if head == HEAD else ("-u",)
    python = [sys.executable, *unbuffered, *options, str(program), *arguments]
    return {"args": ["mpirun", "-n", str(ranks), *python], "env": environment, "text": True}


def job(folder, ranks, text, *arguments, timeout=LIMIT, **how):
    """Exit status and output of a program on that many ranks; `how` as in `command_of`."""
    command = command_of(folder, ranks, text, *arguments, **how)
    done = subprocess.run(**command, capture_output=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def by_python(folder, text, *arguments, timeout=LIMIT, **how):
    """Exit status and output of a program that Python starts, without a launcher; `how` as in `command_of`."""
    command = command_of(folder, 1, text, *arguments, head="", **how)
    for told in ("OMPI_MCA_rmaps_base_oversubscribe", "EVENT_NOEPOLL"):
        command["env"].pop(told)
    command["args"] = command["args"][3:]  # without mpirun
    done = subprocess.run(**command, capture_output=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def ends(pid, seconds=LIMIT):
    """Whether the process has ended, or does so in that time."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready, _, _ = select.select([process], [], [], seconds)
    os.close(process)
    return bool(ready)
