"""Meshes whose ranks are threads of this process, of which one runs at a time."""

import operator
import os
import sys
import threading
import traceback

import unisono as un

from .. import _engine
from .virtual_report import Report

_here = threading.local()
_one_run = threading.Lock()
_seconds_between_signals = 0.2
_seconds_to_stop = 1.0


def own_mesh():
    """The mesh of the virtual rank that the calling thread is; None elsewhere."""
    return getattr(_here, "mesh", None)


def connect_rank():
    """What `unisono.mpi` needs of the calling rank: the connection and its communicators."""
    if _here.job is None:
        job = _engine._virtual_job(_here.world, _here.position)
        _here.job = {"job": job, "world": job.world(), "self": job.self()}
    return _here.job


def make(ranks, latency, bandwidth, sample):
    """The virtual mesh of `ranks` ranks, after checks of the arguments."""
    if ranks is None:
        raise ValueError(
            "mesh: a virtual mesh needs the number of its ranks; got none; expected un.mesh('virtual', 64) or another "
            "number (inside of run, un.mesh('virtual') is the rank's own)"
        )
    try:
        ranks = operator.index(ranks)
    except TypeError:
        raise TypeError(f"mesh: the number of ranks is an int; got {ranks!r}") from None
    if not 1 <= ranks < 2**31:
        raise ValueError(f"mesh: a virtual mesh has at least one rank; got {ranks}")
    for name, value in (("latency", latency), ("bandwidth", bandwidth)):
        if not 0 <= value or (name == "bandwidth" and value == 0):
            raise ValueError(f"mesh: {name} is positive; got {value}")
    if sample is not None:
        sample = sorted({operator.index(r) for r in sample})
        if not sample or sample[0] < 0 or sample[-1] >= ranks:
            raise ValueError(f"mesh: sample lists some of ranks 0 to {ranks - 1}; got {sample}")
    return VirtualMesh(ranks, float(latency), float(bandwidth), sample)


class VirtualMesh:
    """Ranks that live in this process: made by ``un.mesh("virtual", n)``.

    It has ``size`` and `run`, and after a run `report`. In functions that `run` calls it stands for the rank's own mesh.
    """

    def __init__(self, size, latency, bandwidth, sample):
        self.size, self.latency, self.bandwidth, self.sample = size, latency, bandwidth, sample
        self._report = None

    kind = "virtual"

    def __repr__(self):
        sampled = "" if self.sample is None else f", sample={self.sample}"
        return f"un.mesh('virtual', {self.size}, latency={self.latency:g}, bandwidth={self.bandwidth:g}{sampled})"

    def _own(self):
        own = own_mesh()
        if own is None:
            raise RuntimeError(
                "mesh: a virtual mesh has arrays, and a rank, in functions that its run calls; got it outside of run"
            )
        return own

    rank = property(lambda self: self._own().rank, doc="This rank.")

    def barrier(self):
        """Complete pending work and wait for all ranks."""
        self._own().barrier()

    def run(self, f, /, *args, **kwargs):
        """Call ``f(*args, **kwargs)`` on every rank, and return the results in the order of ranks.

        One rank runs at a time, until it waits for a message, for all ranks, or ends; then the next one that can run
        does. So a program does the same in the same order each time. While ranks run, each uses one thread.

        Parameters
        ----------
        f : callable, str or path
            What each rank calls; ``un.mesh()`` is the rank's own mesh there. A path names a program, which each rank runs
            from its beginning as ``python program.py args`` would.
        *args, **kwargs
            Each rank gets a copy of its own of our arrays among these, and its own mesh in place of this one.

        Returns
        -------
        list
            Arrays of a rank among the results, also in tuples, lists and dicts, become arrays of the caller. Distributed
            arrays belong to their ranks; return ``np.asarray(x)`` or ``x.local`` instead.

        Raises
        ------
        CommError
            If all ranks wait for each other, with a list of who waits for whom, in which operation and line; if the ranks
            run different programs.
        RuntimeError
            If a virtual rank calls it.
        Exception
            What the first rank raised that failed, with a note that says which; it ends the others.

        Examples
        --------
        >>> import unisono as un
        >>> m = un.mesh("virtual", 4)
        >>> def total(n):
        ...     x = un.arange(n, mesh=un.mesh())
        ...     return un.mesh().rank, int((x[1:] - x[:-1]).sum())
        >>> m.run(total, 10)
        [(0, 9), (1, 9), (2, 9), (3, 9)]
        """
        own = own_mesh()
        if own is not None:
            raise RuntimeError(
                f"run: a virtual rank cannot run others; got a call by rank {own.rank} of {own.size}; expected one outside "
                "of run"
            )
        argv = sys.argv
        if isinstance(f, str | os.PathLike):
            argv = [os.fspath(f), *map(str, args)]
            f, args = _program(argv[0]), ()
        if not callable(f):
            raise TypeError(
                f"run: expected a function or the path of a program; got {type(f).__name__}"
            )
        sample = [] if self.sample is None else self.sample
        with _one_run:
            world = _engine._World(self.size, sample, self.latency, self.bandwidth)
            ranks = sample or range(self.size)
            state = _Run(self, world, f, _given(args), _given(kwargs), len(ranks))
            threads, argv_before = un.get_num_threads(), sys.argv
            un.set_num_threads(1)
            sys.argv = argv
            try:
                state.join(
                    [
                        threading.Thread(target=state.rank, args=(k,), daemon=True)
                        for k in range(len(ranks))
                    ]
                )
            finally:
                un.set_num_threads(threads)
                sys.argv = argv_before
        self._report = Report(self.size, self.latency, self.bandwidth, world.accounts())
        if state.errors:
            k, error = state.errors[0]
            error.add_note(f"on rank {ranks[k]} of {self.size}")
            raise error
        return [_taken(result) for result in state.results]

    def report(self):
        """What the last run cost each rank.

        Returns
        -------
        Report
            It prints as a table. Lists with an item for each rank: ``rank``, ``computing`` and ``waiting`` (seconds),
            ``messages`` and ``bytes`` (sent), ``clock`` (seconds: computing and waiting). ``critical_path`` is the latest
            clock; ``plot()`` draws what each rank did when.

        Raises
        ------
        RuntimeError
            If nothing ran yet.

        Notes
        -----
        Computing is processor time of the rank's thread, kernels that are compiled for the first time included: run a
        program twice to see what it costs later. A message arrives ``latency + bytes / bandwidth`` after the sender's
        earlier ones left. Where all ranks meet (a value leaves, the end), that takes ``latency`` for each level of a tree
        over the ranks.

        Examples
        --------
        >>> import unisono as un
        >>> m = un.mesh("virtual", 3, latency=1e-6, bandwidth=10e9)
        >>> _ = m.run(lambda: float(un.ones(9, mesh=un.mesh()).sum()))
        >>> m.report().messages
        [2, 2, 2]
        """
        if self._report is None:
            raise RuntimeError("report: nothing ran on this mesh yet; call run first")
        return self._report


def _program(path):
    """A function that runs the program of that path."""
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")

    def run():
        names = {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__}
        exec(code, names)

    return run


class _Run:
    """One run: what its threads share."""

    def __init__(self, mesh, world, f, args, kwargs, count):
        self.mesh, self.world, self.f, self.args, self.kwargs = mesh, world, f, args, kwargs
        self.results = [None] * count
        self.errors = []  # in the order in which they were raised
        self.running = [False] * count
        self.left, self.ended = [], threading.Event()  # not Thread.join, which an interrupt breaks

    def rank(self, k):
        """The thread of the rank at position k."""
        try:
            why = self.program(k)
        except KeyboardInterrupt as error:  # while it dealt with another exception
            self.errors.append((k, error))
            why = "mesh: the run was interrupted"
        for _ in range(2):
            try:
                self.running[k] = False
                _here.mesh = _here.job = _here.world = None
                self.world.leave(k, why)
            except KeyboardInterrupt:
                continue
        self.left.append(k)
        if len(self.left) == len(self.running):
            self.ended.set()

    def program(self, k):
        """Runs the rank's program; returns why all ranks end, if they do."""
        try:
            _here.world, _here.position, _here.job = self.world, k, None
            _here.mesh = self.world.enter(k)
            self.running[k] = True
            result = self.f(*_handed(self.args, self.mesh), **_handed(self.kwargs, self.mesh))
            _here.mesh._finish()
            if _here.job is not None and (left := _here.job["job"].finish()):
                print(left, end="", file=sys.stderr, flush=True)
            self.results[k] = _given(result)
        except BaseException as error:
            self.running[k] = False
            self.errors.append((k, error))
            own = getattr(_here, "mesh", None)
            name = f"rank {own.rank} of {own.size}" if own is not None else f"rank {k}"
            return f"mesh: {name} ended by {_error_text(error)}; all ranks end"
        return None

    def join(self, threads):
        """Runs them to their ends; Ctrl-C ends them."""
        try:
            for thread in threads:
                thread.start()
            self.world.start()
            # A signal that comes just before a wait does not end it; the next one sees it.
            while not self.ended.wait(_seconds_between_signals):
                pass
        except BaseException as error:
            self.world.stop(f"mesh: the run was ended by {type(error).__name__}")
            if threads[-1].ident is None:  # not all could be started: none has begun
                raise
            if not self.ended.wait(_seconds_to_stop):
                self.interrupt(threads)
                while not self.ended.wait(_seconds_between_signals):
                    pass
            raise

    def interrupt(self, threads):
        """Raises an exception in the rank that runs, if it has not come to a message; the others see it at theirs."""
        k = self.world.running()
        if k >= 0 and self.running[k]:
            _engine._interrupt_thread(threads[k].ident)


def _error_text(error):
    """The class and the message of an error, and the user's innermost line."""
    package = os.path.dirname(os.path.dirname(__file__))
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(package)
    ]
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    text = str(error).split("\n")[0]
    return type(error).__name__ + (f" ({text})" if text else "") + where


class _Elements:
    """An array on its way between the caller and a rank."""

    def __init__(self, x):
        import numpy as np

        self.is_value = x._is_value()
        self.elements = np.array(x)

    def array(self):
        made = un.asarray(self.elements)
        return made[()] if self.is_value else made


def _walk(x, change):
    """`x` with `change` of all in it that is no tuple, list or dict."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind(_walk(item, change) for item in x)
    if kind is dict:
        return {name: _walk(item, change) for name, item in x.items()}
    return change(x)


def _given(x):
    """What leaves the caller, or a rank: arrays as elements. A distributed array stays where it is."""

    def change(item):
        if isinstance(item, _engine._Array) and not isinstance(item.device, _engine.Mesh):
            return _Elements(item)
        return item

    return _walk(x, change)


def _taken(x):
    return _walk(x, lambda item: item.array() if isinstance(item, _Elements) else item)


def _handed(x, mesh):
    """What a rank is given: its own copies of arrays, its own mesh for the caller's."""

    def change(item):
        if item is mesh:
            return _here.mesh
        return item.array() if isinstance(item, _Elements) else item

    return _walk(x, change)
