"""Ranks that an executor starts itself, where no launcher gave the program any: both sides of their start and their end."""

import atexit
import os
import platform
import select
import sys
import traceback
from concurrent.futures import BrokenExecutor
from threading import Thread

from .._info import Info
from .._job import connect
from .._launch import run
from ._ranks import Ranks

WORKER = "__worker__"  # name of the program on the ranks that work: it does not run what is under `if __name__ == "__main__"`
_importing = []  # the program that this process imports as a worker, while it does


def default_count():
    """How many processes an executor starts by default: MPI4PY_FUTURES_MAX_WORKERS, else the slots that are left, else one
    for each core; None where several ranks run the program and would all start some.
    """
    if "MPI4PY_FUTURES_MAX_WORKERS" in os.environ:
        return int(os.environ["MPI4PY_FUTURES_MAX_WORKERS"])
    size = connect()["world"].size
    if size > 1:
        return None
    slots = int(os.environ.get("OMPI_UNIVERSE_SIZE", 0))
    return slots - size if slots > size else len(os.sched_getaffinity(0))


def _program_of(main):
    """File and package of a main module that others can import; None of others, as that of a prompt."""
    file = getattr(main, "__file__", None)
    if file is None or not os.path.isfile(file):
        return None
    return os.path.abspath(file), getattr(main, "__package__", None)


def _hints(given):
    """Those of the user, and that there may be more processes than cores, as of threads."""
    return Info.Create({"map_by": "slot:OVERSUBSCRIBE"} | dict(given or {}))


class SpawnedRanks(Ranks):
    """Processes that work for this one alone.

    Parameters
    ----------
    count : int
        How many.
    options : dict
        Of the executor.
    """

    def __init__(self, count, options):
        if _importing:
            raise RuntimeError(
                f"MPIPoolExecutor: {_importing[0]} starts an executor when a worker imports it; put what only the program "
                'does under `if __name__ == "__main__":`'
            )
        import subprocess

        flags = subprocess._args_from_interpreter_flags()
        arguments = [*flags, *(options.get("python_args") or ()), "-m", "unisono.mpi.futures"]
        python = options.get("python_exe") or sys.executable
        self._inter = connect()["self"].Spawn(
            python, arguments, count, _hints(options.get("mpi_info"))
        )
        self._whole = self._inter.Merge(False)
        main = sys.modules["__main__"]
        sys.modules.setdefault(WORKER, main)
        given = {k: options.get(k) for k in ("wdir", "env", "globals")}
        given["path"] = [*(options.get("path") or ()), *(p for p in sys.path if p)]
        given["process"] = os.getpid(), platform.node()
        given["program"] = _program_of(main) if options.get("main", True) else None
        self._whole.bcast(given, 0)
        failed = next(filter(None, self._whole.allgather(None)), None)
        if failed is not None:
            self._part()
            raise BrokenExecutor(f"the workers cannot import the program: {failed}")
        super().__init__(self._whole, 0)
        atexit.register(self._end_at_exit)

    def let_go(self):
        """Tell them to end."""
        atexit.unregister(self._end_at_exit)
        for rank in range(1, self.comm.size):
            self.comm.send(None, rank)
        self.comm.Free()
        self._part()

    def _part(self):
        self._whole.Free()
        self._inter.Disconnect()

    def _end_at_exit(self):
        for manager in self._managers:
            manager.end()
            manager.join()


def _import_program(given):
    """Import the program that started this process, as a worker."""
    sys.path.extend(p for p in given["path"] if p not in sys.path)
    if given["wdir"] is not None:
        os.chdir(given["wdir"])
    os.environ.update(given["env"] or {})
    if given["program"] is None:
        vars(sys.modules["__main__"]).update(given["globals"] or {})
        return
    import tokenize

    file, package = given["program"]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(file)
    with tokenize.open(file) as opened:
        text = opened.read()
    _importing.append(file)
    try:
        run(file, text, WORKER, package=package, names=given["globals"])
    finally:
        _importing.clear()


def _end_with(process, host):
    """End this process when that one is gone, on the same host: it would wait for tasks for ever."""
    if host != platform.node():
        return
    try:
        watched = os.pidfd_open(process)
    except OSError:  # in a container of its own
        return

    def watch():
        select.select([watched], [], [])
        os._exit(1)

    Thread(target=watch, name="unisono.mpi.futures", daemon=True).start()


def serve(inter):
    """Work for the process that started this one, until it says that there is no more."""
    whole = inter.Merge(True)
    failed = None
    try:
        given = whole.bcast(None, 0)
        _end_with(*given["process"])
        _import_program(given)
    except BaseException:
        failed = traceback.format_exc()
    if not any(whole.allgather(failed)):
        ranks = Ranks(whole, 0)
        ranks.serve()
        ranks.comm.Free()
    whole.Free()
    inter.Disconnect()
