"""Executors of `concurrent.futures` whose tasks run on other ranks."""

import os
import time
import weakref
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ThreadPoolExecutor,
    TimeoutError,
    wait,
)
from itertools import islice
from threading import Lock

from ..._engine import UnsupportedError
from .._pickles import pickle
from ._ranks import Ranks
from ._spawned import SpawnedRanks, default_count

_of_program = {}  # the ranks that ``python -m unisono.mpi.futures`` gave the program
_OPTIONS = {"path", "wdir", "env", "globals"}  # what each rank does first
_OF_PROCESSES = {"python_exe", "python_args", "main", "mpi_info", "use_pkl5", "backoff"}


def _prepare(options, initializer, initargs):
    """What a rank does before its first task."""
    import sys

    sys.path.extend(p for p in options.get("path") or () if p not in sys.path)
    if options.get("wdir") is not None:
        os.chdir(options["wdir"])
    os.environ.update(options.get("env") or {})
    vars(sys.modules["__main__"]).update(options.get("globals") or {})
    if initializer is not None:
        initializer(*initargs)


def _apply(function, chunk):
    return [function(*arguments) for arguments in chunk]


def _chunks(items, size):
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def _results(futures, end, is_unordered):
    """What the tasks of a map gave, as it is asked for; those that nobody asks for are cancelled."""
    left = dict.fromkeys(futures)
    try:
        while left:
            rest = None if end is None else max(0, end - time.monotonic())
            if is_unordered:
                done = wait(left, rest, FIRST_COMPLETED).done
                if not done:
                    raise TimeoutError
            else:
                done = [next(iter(left))]
            for future in done:
                del left[future]
                yield from future.result(rest)
    finally:
        for future in left:
            future.cancel()


class MPIPoolExecutor(Executor):
    """Runs functions on other ranks, with the names of ``mpi4py.futures``.

    In a program that ``python program.py`` started, each executor starts processes with its first task, and ends them when
    it is shut down. Of one that is started by ``mpirun -n 4 python -m unisono.mpi.futures program.py`` rank 0 runs the
    program, and the executors share the other ranks. Those that work import the program (its ``__name__`` is
    ``__worker__`` there).

    Parameters
    ----------
    max_workers : int, optional
        At most so many ranks; all that no other executor has by default. Of processes that are started: the value of
        ``MPI4PY_FUTURES_MAX_WORKERS`` in the environment by default, else as many as the launcher has slots left, else as
        many as there are cores.
    initializer : callable, optional
        Called on each rank first.
    initargs : tuple
        Its arguments.
    **options
        ``path``, ``wdir``, ``env`` and ``globals`` of each rank: folders of modules, the working folder, environment
        variables, names of the main module. Of processes that are started: ``python_exe``, ``python_args``, ``mpi_info``
        and ``main`` (False: they do not import the program). What else ``mpi4py.futures`` takes is ignored.

    Raises
    ------
    UnsupportedError
        If several ranks run the program, none of them works for it, and `max_workers` is not given.
    CommError
        By the first task: if the processes cannot be started.

    Examples
    --------
    >>> from unisono.mpi.futures import MPIPoolExecutor
    >>> with MPIPoolExecutor(max_workers=2) as executor:
    ...     future = executor.submit(pow, 2, 10)
    ...     squares = list(executor.map(pow, [1, 2, 3], [2, 2, 2]))
    >>> future.result(), squares
    (1024, [1, 4, 9])
    """

    def __init__(self, max_workers=None, initializer=None, initargs=(), **options):
        if max_workers is not None and max_workers < 1:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        unknown = set(options) - _OPTIONS - _OF_PROCESSES
        if unknown:
            raise TypeError(
                f"MPIPoolExecutor: no such option; got {sorted(unknown)[0]!r}; expected one of "
                f"{sorted(_OPTIONS | _OF_PROCESSES)}"
            )
        self._most, self._given = max_workers, options
        self._ranks = self._find_ranks()
        self._setup = {k: options[k] for k in _OPTIONS & set(options)}, initializer, initargs
        self._started, self._is_ended, self._starting = None, False, Lock()

    def _find_ranks(self):
        """Those that work for it; None: threads; a number: that many processes, which are started with the first task."""
        return _of_program["ranks"] if "ranks" in _of_program else _processes(self._most)

    def _start(self):
        """The manager or pool of threads, which begins with the first task."""
        with self._starting:
            if self._is_ended:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._started is None:
                self._started = self._begin(*self._setup)
            return self._started

    def _begin(self, options, initializer, initargs):
        if self._ranks is None:
            self._most = self._most or len(os.sched_getaffinity(0))
            return ThreadPoolExecutor(self._most, initializer=_prepare, initargs=self._setup)
        if isinstance(self._ranks, int):
            self._ranks, options = SpawnedRanks(self._ranks, self._given), {}
        is_needed = options or initializer is not None
        setup = pickle.dumps((_prepare, (options, initializer, initargs), {}))
        started = self._ranks.manager(self._most or self._ranks.count, setup if is_needed else None)
        weakref.finalize(self, started.end).atexit = False
        return started

    def bootup(self, wait=True):
        """Start the ranks without a task; returns the executor."""
        started = self._start()
        if wait and self._ranks is not None:
            started.own_ranks()
        return self

    @property
    def num_workers(self):
        """How many ranks, or threads, run its tasks."""
        if self._is_ended:
            return 0
        started = self._start()
        return self._most if self._ranks is None else len(started.own_ranks())

    _max_workers = num_workers

    def submit(self, fn, /, *args, **kwargs):
        """Run a function on a rank.

        Parameters
        ----------
        fn : callable
            One that pickle knows by its name, as its arguments and its result.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        Future
        """
        started = self._start()
        if self._ranks is None:
            return started.submit(fn, *args, **kwargs)
        try:
            task = pickle.dumps((fn, args, kwargs))
        except Exception as error:
            refused = Future()
            refused.set_exception(error)
            return refused
        return started.submit(task)

    def map(self, fn, *iterables, timeout=None, chunksize=1, unordered=False):
        """Call a function with the items of iterables.

        Parameters
        ----------
        fn : callable
        *iterables : iterable
        timeout : float, optional
            Seconds until TimeoutError.
        chunksize : int
            Items that go to a rank together.
        unordered : bool
            Results come as they are ready.

        Returns
        -------
        iterator of results
        """
        return self.starmap(fn, zip(*iterables, strict=False), timeout, chunksize, unordered)

    def starmap(self, fn, iterable, timeout=None, chunksize=1, unordered=False):
        """The same with the arguments of each call as one item.

        Parameters
        ----------
        fn : callable
        iterable : iterable of tuples
        timeout, chunksize, unordered
            As of `map`.

        Returns
        -------
        iterator of results
        """
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        end = None if timeout is None else time.monotonic() + timeout
        futures = [self.submit(_apply, fn, chunk) for chunk in _chunks(iterable, chunksize)]
        return _results(futures, end, unordered)

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Take no more tasks, and give the ranks back when those that are there are done.

        Parameters
        ----------
        wait : bool
            Wait for that.
        cancel_futures : bool
            Cancel what has not begun.
        """
        self._is_ended = True
        if self._started is None:
            return
        if self._ranks is None:
            self._started.shutdown(wait, cancel_futures=cancel_futures)
            return
        self._started.end(cancel_futures)
        if wait:
            self._started.join()


def _processes(most):
    """How many an executor starts; None: a virtual rank starts none."""
    from ..._runtime.mesh import own_mesh

    count = most or default_count()
    if own_mesh() is not None or count is None:
        from .._job import connect

        size = connect()["world"].size
        if size > 1:
            raise UnsupportedError(
                f"MPIPoolExecutor: all {size} ranks run the program, and none works for it; start it by "
                "python -m unisono.mpi.futures program.py, use MPICommExecutor, or give max_workers, so that processes are "
                "started for this rank"
            )
        return None
    return count


class _OfComm(MPIPoolExecutor):
    def __init__(self, ranks, options):
        self._of_comm = ranks
        super().__init__(**options)

    def _find_ranks(self):
        return self._of_comm


class MPICommExecutor:
    """An executor on one rank of a communicator, for which the others work until its ``with`` block ends.

    Parameters
    ----------
    comm : Comm, optional
        `COMM_WORLD` by default. All its ranks enter the block; of a program that ``python -m unisono.mpi.futures``
        started, rank 0 alone does, and gets the ranks that work for it already, whatever is given here.
    root : int
        The rank that gets the executor; the others get None, when the root has left its block.
    **options
        As of `MPIPoolExecutor`.

    Examples
    --------
    >>> from unisono.mpi.futures import MPICommExecutor
    >>> with MPICommExecutor() as executor:
    ...     if executor is not None:
    ...         print(executor.submit(abs, -3).result())
    3
    """

    def __init__(self, comm=None, root=0, **options):
        if comm is None:
            from .._job import connect

            comm = connect()["world"]
        if not 0 <= root < comm.size:
            raise ValueError(
                f"MPICommExecutor: no such rank; got root={root}; expected 0 to {comm.size - 1}"
            )
        self._comm, self._root, self._options = comm, root, options
        self._executor = self._ranks = None

    def __enter__(self):
        if self._executor is not None:
            raise RuntimeError("MPICommExecutor: its block has begun already")
        if (ranks := _of_program.get("ranks")) is not None:
            self._executor = _OfComm(ranks, self._options)
            return self._executor
        if self._comm.size > 1:
            self._ranks = Ranks(self._comm, self._root)
        if self._comm.rank != self._root:
            self._ranks.serve()
            self._ranks.comm.Free()
            return None
        self._executor = _OfComm(self._ranks, self._options)
        return self._executor

    def __exit__(self, *error):
        executor, self._executor = self._executor, None
        if executor is None:
            return
        executor.shutdown()
        if self._ranks is not None:
            self._ranks.end()
            self._ranks.comm.Free()
