"""`cluster`: starts engines, and the object through which a notebook or a script uses them."""

import atexit
import operator
import os
import re
import signal
import sys
import threading
import time
import weakref

from .. import _engine
from . import debugger, engine, errors
from .remote import RemoteArray
from .start import Processes, need_ipyparallel

_running = weakref.WeakSet()


def cluster(n=None, *, launcher="mpirun", timeout=60.0, grace=10.0, address="127.0.0.1"):
    """Start `n` engines under MPI, and connect to them.

    An engine is an IPython kernel on one rank of an MPI job, where `unisono` is imported as ``un`` and distributed arrays,
    `unisono.mpi` and `unisono.ga` work. In a notebook, cells that begin with ``%%px`` run on all engines. Needs ipyparallel
    (``pip install unisono[cluster]``).

    Parameters
    ----------
    n : int, optional
        Number of engines; by default one for each processor that this process may use.
    launcher : str or sequence of str
        Command that starts MPI jobs, to which ``-n N`` and the program are appended: ``"mpirun --hostfile hosts"``.
    timeout : float
        Seconds within which the engines must have started.
    grace : float
        Seconds that other ranks may go on after one has raised; then they are interrupted.
    address : str
        Address at which the engines reach this process; ``"*"`` for all, where they run on other machines.

    Returns
    -------
    Cluster
        Its end (``with``, ``close()``, or that of this process) ends the engines.

    Raises
    ------
    ImportError
        If ipyparallel is not installed.
    FileNotFoundError
        If there is no program `launcher`.
    ValueError
        If `n` is less than 1.
    CommError
        If the engines do not start within `timeout`; the message has what they wrote.

    Examples
    --------
    >>> import unisono as un
    >>> with un.cluster(2) as c:  # doctest: +SKIP
    ...     c.execute("u = un.arange(10.0, mesh=un.mesh('mpi')); total = float(u.sum())")
    ...     print(c["total"], c["u"], sep="\\n")
    [45.0, 45.0]
    u: distributed array, shape (10,), float64, layout ('block',), on 2 ranks
      rank 0: [0:5]
      rank 1: [5:10]
    >>> un.cluster(0)
    Traceback (most recent call last):
    ...
    ValueError: cluster: at least one engine is started; got n=0
    """
    if n is None:
        n = len(os.sched_getaffinity(0))
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"cluster: at least one engine is started; got n={n}")
    return Cluster(n, launcher, timeout, grace, address)


def _view_class():
    """ipyparallel's view, but that what it runs is watched (its magics call `execute`)."""
    view = need_ipyparallel().DirectView

    class View(view):
        need = watch = None

        def execute(self, code, silent=True, targets=None, block=None, label=None):
            self.need()
            result = super().execute(code, silent, targets, block=False, label=label)
            self.watch(result)
            if self.block if block is None else block:
                result.get()
                result.wait_for_output()
            return result

    return View


class Ranks:
    """Some engines of a cluster: ``c[1]``, ``c[2:]``, ``c[0, 3]``; results are those of one rank, or a list."""

    def __init__(self, cluster, ranks):
        self._cluster, self.ranks = cluster, ranks

    def __repr__(self):
        return f"<ranks {self.ranks} of {self._cluster!r}>"

    def _each(self, results):
        return results if isinstance(self.ranks, list) else results[0]

    def push(self, names=None, /, **more):
        """Set names: a dict of names and values, or keywords."""
        values = {**(names or {}), **more}
        view = self._cluster._view(self.ranks)
        self._cluster._wait(view.push(values, block=False), self.ranks)

    def __getitem__(self, name):
        if isinstance(name, str):
            return self.pull(name)
        raise TypeError(
            f"cluster: ranks are chosen of the cluster itself; got {self!r}[{name!r}]; expected a name"
        )

    def __setitem__(self, name, value):
        self.push({name: value})

    def pull(self, names):
        """Values of a name (or of a sequence of names: a list of such).

        Returns
        -------
        list, RemoteArray or object
            The value on each rank; of one rank, its value; of a distributed array, a handle that leaves it where it is.

        Raises
        ------
        RemoteError
            If a rank does not have the name.
        """
        if isinstance(names, str):
            return self._cluster._pull([names], self)[0]
        return self._cluster._pull([*names], self)

    def execute(self, code):
        """Run text, as a cell of a notebook; what it prints and displays is shown with its rank.

        Raises
        ------
        RemoteError
            What the code raised, by rank.
        """
        view = self._cluster._view(self.ranks)
        result = view.execute(code, silent=False, block=False)
        self._cluster._wait(result, self.ranks, shows=True)

    def run(self, file):
        """Run the program in a file."""
        try:
            with open(file, encoding="utf-8") as source:
                text = source.read()
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"run: there is no such file; got {file!r}; expected a program's path; execute() runs text"
            ) from error
        where = os.path.abspath(file)
        self.apply(_run_file, text, where)

    def apply(self, function, *args, **kwargs):
        """Call a function; returns what it returned on each rank."""
        view = self._cluster._view(self.ranks)
        result = view.apply_async(function, *args, **kwargs)
        self._cluster._watch(result)
        return self._each(self._cluster._wait(result, self.ranks, shows=True))


def _run_file(text, where):
    import linecache

    from unisono._cluster.engine import _shell

    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    exec(compile(text, where, "exec"), _shell().user_ns)


class Cluster(Ranks):
    """Engines on the ranks of an MPI job, which `cluster` started; its methods act on all of them.

    ``c[1]``, ``c[1:]`` and ``c[0, 2]`` are some of them, with the same methods; ``c["x"]`` pulls a name and ``c["x"] = v``
    pushes one. `client` is ipyparallel's, for all that it has besides.
    """

    def __init__(self, n, launcher, timeout, grace, address):
        super().__init__(self, list(range(n)))
        self.size = n
        self._how = n, launcher, timeout, address
        self._grace = grace
        self._dropped, self._next = [], 0
        self._processes = self._failed = None
        self._start()
        _running.add(self)

    def _start(self):
        self._failed, self._pending = None, []
        self._processes = processes = Processes(*self._how)
        self.client = processes.client
        self._views = {}
        try:
            processes.places = self._prepare()
        except BaseException:
            processes.end(0.0)
            self._processes = None
            raise
        threading.Thread(target=self._look, args=(processes,), daemon=True).start()
        if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            self._view(self.ranks).activate()

    def _prepare(self):
        paths = [os.path.abspath(p) for p in sys.path]
        result = self._view(self.ranks).apply_async(engine.prepare, paths)
        left = self._processes.deadline - time.monotonic()
        found = self._wait(result, self.ranks, limit=max(left, 1.0))
        wrong = [k for k, (rank, size, *_) in enumerate(found) if (rank, size) != (k, self.size)]
        if wrong:
            k = wrong[0]
            raise _engine.CommError(
                f"cluster: engine {k} of {self.size} is rank {found[k][0]} of an MPI job of {found[k][1]}; is the launcher "
                f"{self._how[1]!r} of the MPI that the engines load?"
            )
        return [place for _, _, *place in found]

    def __repr__(self):
        state = "closed" if self._processes is None else self._failed or "running"
        return f"<cluster of {self.size} engines: {state.splitlines()[0]}>"

    def __len__(self):
        return self.size

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.pull(key)
        if isinstance(key, slice):
            return Ranks(self, self.ranks[key])
        if isinstance(key, (tuple, list)):
            return Ranks(self, [self._rank(k) for k in key])
        return Ranks(self, self._rank(key))

    def close(self):
        """End the engines and all processes of the cluster; nothing if that was done."""
        processes, self._processes = self._processes, None
        if processes is not None:
            # Ranks that disagree would wait for each other until the time limit.
            processes.end(1.0 if self._failed else 10.0)

    def restart(self):
        """End the engines and start new ones, with empty namespaces."""
        self.close()
        self._start()

    def interrupt(self):
        """Raise KeyboardInterrupt on the ranks that run something."""
        self._need().interrupt()

    def debug(self, rank, code=None, commands=None):
        """Debug one rank by pdb.

        Parameters
        ----------
        rank : int
        code : str, optional
            Runs on all ranks, on this one under pdb, which stops at its first line and where the code calls
            ``breakpoint()``. Without it, pdb looks at the last exception of the rank.
        commands : iterable of str, optional
            Commands for pdb; by default they are asked for.

        Returns
        -------
        str or None
            With `commands`, what pdb wrote.

        Raises
        ------
        RemoteError
            What the code raised, or that there is nothing to look at.
        """
        rank, said = self._rank(rank), []
        given = None if commands is None else iter(commands)
        with debugger.Listener(self._how[3].replace("*", "")) as listener:
            host, port = listener.address[:2]
            address = (_own_address() if host == "0.0.0.0" else host, port)
            result = self._under_debugger(rank, code, address, listener.token)
            connection = listener.accept(lambda: result.ready() or self._failed)
            if connection is not None:
                ask = (lambda: _asked(rank)) if given is None else (lambda: next(given, None))
                debugger.converse(connection, ask, _tell if given is None else said.append)
        self._wait(result, [rank] if code is None else self.ranks, shows=True)
        return None if given is None else "".join(said)

    def _under_debugger(self, rank, code, address, token):
        if code is None:
            return self._view([rank]).apply_async(debugger.post_mortem, address, token)
        name = f"<debug {self._next}>"
        self._next += 1
        return self._view(self.ranks).apply_async(_debug_on, rank, code, name, address, token)

    # What the methods of ranks and handles use.

    def _rank(self, rank):
        k = operator.index(rank)
        if not -self.size <= k < self.size:
            raise IndexError(f"cluster: there are ranks 0 to {self.size - 1}; got {rank}")
        return k % self.size

    def _need(self):
        if self._processes is None:
            raise _engine.CommError("cluster: it was closed; start another, or restart() it")
        if self._failed:
            raise _engine.CommError(f"{self._failed}\nrestart() starts new engines")
        return self._processes

    def _view(self, ranks):
        self._need()
        key = tuple(ranks) if isinstance(ranks, list) else ranks
        if key not in self._views:
            targets = ranks if isinstance(ranks, list) else [ranks]
            view = _view_class()(
                client=self.client, socket=self.client._mux_stream, targets=targets
            )
            view.block, view.need, view.watch = True, self._need, self._watch
            self._views[key] = view
        return self._views[key]

    def _pull(self, names, of):
        dropped, self._dropped[:] = self._dropped[:], []
        first, self._next = self._next, self._next + len(names)
        result = self._view(of.ranks).apply_async(engine.fetch, names, first, dropped)
        found = self._wait(result, of.ranks)
        out = []
        for k, name in enumerate(names):
            values = [of_rank[k] for of_rank in found]
            if values[0][0] is None:
                out.append(of._each([value for _, value in values]))
            elif of.ranks == self.ranks:
                out.append(RemoteArray(self, name, values[0][0], [value for _, value in values]))
            else:
                raise ValueError(
                    f"pull: {name} is a distributed array, which lies on all ranks; got ranks {of.ranks}; pull it from all, or "
                    f"its part: execute('part = {name}.local') on all"
                )
        return out

    def _on_all(self, name, *args):
        result = self._view(self.ranks).apply_async(getattr(engine, name), *args)
        return self._wait(result, self.ranks)

    def _watch(self, result):
        self._pending.append(weakref.ref(result))

    def _wait(self, result, ranks, shows=False, limit=None):
        """Results of all ranks; raises what they raised, that an engine died, or, after `limit` seconds, CommError."""
        ranks = ranks if isinstance(ranks, list) else [ranks]
        self._watch(result)
        end = None if limit is None else time.monotonic() + limit
        try:
            while not result.wait(0.1):
                self._need()
                if end is not None and time.monotonic() > end:
                    raise _engine.CommError(
                        f"cluster: MPI did not start on all engines within {self._processes.timeout:g} seconds; timeout= sets "
                        f"how long to wait\n{self._processes.tail()}"
                    )
        except KeyboardInterrupt:
            if self._processes is not None:
                self._processes.interrupt()
                self._settle(result, ranks)
            raise
        if shows:
            _display(result)
        results = result.get(return_exceptions=True)
        results = results if len(ranks) > 1 or isinstance(results, list) else [results]
        if raised := errors.collect(results, ranks):
            self._need_engines(raised)
            raise errors.RemoteError(self.size, raised, self._note(raised, ranks))
        return results

    def _settle(self, result, ranks):
        """Wait until interrupted engines take requests: for a moment they drop what comes behind code that raised."""
        end = time.monotonic() + self._grace
        result.wait(self._grace)
        while time.monotonic() < end:
            asked = self._view(ranks).apply_async(int)
            if not asked.wait(max(0.0, end - time.monotonic())):
                return
            if not errors.collect(asked.get(return_exceptions=True), ranks):
                return

    def _need_engines(self, raised):
        """An engine that died is named by the launcher, which may take a moment."""
        if any(name == "EngineError" for name, *_ in raised.values()):
            end = time.monotonic() + 10.0
            while not self._failed and time.monotonic() < end:
                time.sleep(0.02)
            self._need()

    def _note(self, raised, ranks):
        interrupted = [r for r, (name, *_) in raised.items() if name == "KeyboardInterrupt"]
        if not interrupted or len(interrupted) == len(raised):
            return ""
        return (
            f"the other ranks still ran {self._grace:g} seconds later, and were interrupted; statements on distributed "
            "arrays and collective calls no longer match between ranks: restart() starts new engines"
        )

    def _look(self, processes):
        """In a thread: notices that the job has ended, and interrupts ranks that wait for one that has raised."""
        since = {}
        while self._processes is processes:
            try:
                processes.job.wait(0.1)
            except Exception:
                self._interrupt_waiting(processes, since)
                continue
            if self._processes is processes:
                self._failed = self._how_it_ended(processes)
                self._strand(processes.client)
            return

    def _interrupt_waiting(self, processes, since):
        alive = [ref for ref in self._pending if (r := ref()) is not None and not r.ready()]
        self._pending[:] = alive
        now = time.monotonic()
        for ref in alive:
            result = ref()
            if result is None or not any(map(_has_raised, result._children)):
                continue
            if now - since.setdefault(ref, now) > self._grace:
                since[ref] = now + 3600  # once
                processes.interrupt()

    def _strand(self, client):
        """Give an answer to requests that ipyparallel's own magics wait for."""
        for rank, uuid in list(client._engines.items()):
            client._io_loop.add_callback(client._handle_stranded_msgs, rank, uuid)

    def _how_it_ended(self, processes):
        text = processes.tail(60)
        ranks = {pid: rank for rank, (_, pid) in enumerate(processes.places)}
        named = [ranks[p] for p in map(int, re.findall(r"\bPID:? (\d+)", text)) if p in ranks]
        for rank in re.findall(
            r"process rank (\d+) with PID|Process name: \[\[\d+,\d+\],(\d+)\]", text
        ):
            named.append(int(rank[0] or rank[1]))
        who = f"rank {named[0]} (on {processes.places[named[0]][0]})" if named else "an engine"
        number = re.search(r"exited on signal (\d+)|EXIT CODE: (\d+)", text)
        how = ""
        if number and (number[1] or int(number[2]) < 32):
            how = f" by {signal.Signals(int(number[1] or number[2])).name}"
        return f"cluster: {who} ended{how}, and with it all engines; what they wrote last:\n{processes.tail(12)}"


def _has_raised(answer):
    return answer.done() and isinstance(answer.result(), Exception)


def _debug_on(rank, code, name, address, token):
    import unisono as un
    from unisono._cluster import debugger

    debugger.run(code, name, un.mpi.COMM_WORLD.rank == rank, address, token)


def _display(result):
    """Show what ranks printed and displayed, each line with its rank."""
    result.wait_for_output(1)
    for rank, data in enumerate(
        result.metadata if isinstance(result.metadata, list) else [result.metadata]
    ):
        rank = data["engine_id"] if data["engine_id"] is not None else rank
        for stream, file in (("stdout", sys.stdout), ("stderr", sys.stderr)):
            for line in data[stream].splitlines():
                print(f"[{rank}] {line}", file=file)
        shown = data["execute_result"]
        if shown:
            text = shown["data"].get("text/plain", "") if isinstance(shown, dict) else str(shown)
            for line in errors.plain(text).splitlines():
                print(f"[{rank}] {line}")


def _asked(rank):
    try:
        return input(f"(Pdb, rank {rank}) ")
    except EOFError:
        return None


def _tell(text):
    print(text, end="")


def _own_address():
    import socket

    return socket.gethostbyname(socket.gethostname())


@atexit.register
def _close_all():
    for running in list(_running):
        running.close()
