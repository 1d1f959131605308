"""Runs a program on rank 0, and its executors' tasks on the others: python -m unisono.mpi.futures program.py."""

import sys

from .._job import connect
from .._launch import run
from ._executor import _of_program
from ._ranks import Ranks
from ._spawned import WORKER, serve

USAGE = "usage: python -m unisono.mpi.futures program.py [argument]..."


def _read(program):
    import tokenize

    with tokenize.open(program) as file:
        return file.read()


def main(arguments):
    """Run the program; the other ranks import it and work. Without one: work for the process that started this one."""
    if not arguments and (parent := connect().get("parent")):
        serve(parent)
        return
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        sys.exit(0 if arguments else 2)
    comm, program = connect()["world"], arguments[0]
    sys.argv = list(arguments)
    sys.path[0] = program.rpartition("/")[0]
    text = _read(program)
    ranks = Ranks(comm, 0) if comm.size > 1 else None
    _of_program["ranks"] = ranks
    if comm.rank:
        run(program, text, WORKER)
        ranks.serve()
        return
    try:
        run(program, text, "__main__", WORKER)
    except SystemExit:
        if ranks is not None:
            ranks.end()
        raise
    if ranks is not None:
        ranks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
