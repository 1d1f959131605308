"""Ranks that compute what another one asks for: their loop, and the thread that gives tasks out and takes results back.

A task is the pickled function and its arguments; what came of it is its pickled result, or the exception with its
traceback as text. Both sides look for messages in turns that become longer, up to a millisecond: a rank without a task is
no rank that others wait for, and none that uses its core.
"""

import sys
import time
import traceback
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from threading import Condition, Thread

from .._communicator import ANY_SOURCE
from .._pickles import pickle
from .._status import Status

_SHORTEST, _LONGEST = 1e-5, 1e-3  # seconds between two looks for a message
_teams = {}  # of a rank that works: the communicator of all that do


class RemoteTraceback(Exception):
    """The traceback of a task's exception on the rank that ran it: the cause of the exception here.

    Examples
    --------
    >>> from unisono.mpi.futures._ranks import RemoteTraceback
    >>> str(RemoteTraceback("on rank 1"))
    'on rank 1'
    """


def work(comm, root):
    """Compute what the root asks for, until it says that there is no more."""
    while True:
        pause = _SHORTEST
        while not comm.Iprobe(root):
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
        task = comm.recv(source=root)
        if task is None:
            return
        comm.send(outcome(task, f"rank {comm.rank}"), root)


def outcome(task, where):
    """Whether a task ended well, and its pickled result, or the exception and its traceback."""
    try:
        function, arguments, named = pickle.loads(task)
        return True, pickle.dumps(function(*arguments, **named))
    except BaseException as error:
        text = f"\non {where}:\n{traceback.format_exc()}"
        try:
            packed = pickle.dumps((error, text))
            pickle.loads(packed)  # one whose class wants other arguments is found out here
        except Exception:
            packed = pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), text))
        return False, packed


def settle(future, is_good, packed):
    """Give a future what came of its task."""
    try:
        if is_good:
            return future.set_result(pickle.loads(packed))
        error, text = pickle.loads(packed)
        error.__cause__ = RemoteTraceback(text)
    except Exception as wrong:  # what cannot be made here
        error = wrong
    future.set_exception(error)


class Ranks:
    """The ranks of a communicator that work for its root. Each executor takes some of them and gives them back.

    All ranks of the communicator make it together; then the others `work`.
    """

    def __init__(self, comm, root):
        self.comm, self.root = comm.Dup(), root  # its messages are apart from the program's
        self._free = deque(r for r in range(comm.size) if r != root)
        self._changed = Condition()
        self._managers = []
        team = comm.Split(int(comm.rank == root))
        if comm.rank == root:
            team.Free()
        else:
            _teams["own"] = team

    @property
    def count(self):
        """How many there are."""
        return self.comm.size - 1

    def take(self, most):
        """Up to so many of them; waits until another executor gives some back."""
        with self._changed:
            self._changed.wait_for(lambda: self._free)
            return [self._free.popleft() for _ in range(min(most, len(self._free)))]

    def give(self, ranks):
        """Give some back."""
        with self._changed:
            self._free.extend(ranks)
            self._changed.notify_all()

    def let_go(self):
        """An executor has ended, which gave back its ranks: others may come."""

    def manager(self, most, setup):
        """A thread that runs tasks on up to so many of them; `setup` is a task that each of them runs first."""
        made = Manager(self, most, setup)
        self._managers.append(made)
        return made

    def serve(self):
        """On the others: compute until the root ends."""
        try:
            work(self.comm, self.root)
        finally:
            team = _teams.pop("own", None)
            if team is not None:
                team.Free()

    def end(self):
        """On the root: complete what is left, and let the others go."""
        for manager in self._managers:
            manager.end()
            manager.join()
        for rank in range(self.comm.size):
            if rank != self.root:
                self.comm.send(None, rank)


class Manager:
    """The thread of an executor, which hands tasks to ranks and receives what came of them."""

    def __init__(self, ranks, most, setup):
        self._ranks, self._most, self._setup = ranks, most, setup
        self._changed = Condition()
        self._tasks = deque()
        self._is_ended, self._broken, self._own = False, None, None
        self._thread = Thread(target=self._run, name="unisono.mpi.futures", daemon=True)
        self._thread.start()

    def submit(self, task):
        """A future of a pickled task."""
        future = Future()
        with self._changed:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            self._tasks.append((future, task))
            self._changed.notify_all()
        return future

    def own_ranks(self):
        """The ranks that it has; waits until it has some."""
        with self._changed:
            self._changed.wait_for(lambda: self._own is not None)
            return self._own if self._broken is None else []

    def end(self, cancel=False):
        """Take no more tasks; complete what is left, or cancel what has not begun."""
        with self._changed:
            self._is_ended = True
            for future, _ in self._tasks if cancel else ():
                future.cancel()
            self._changed.notify_all()

    def join(self):
        """Wait for the end."""
        self._thread.join()

    def _run(self):
        own = self._ranks.take(self._most)
        try:
            with self._changed:
                self._own = own
                self._changed.notify_all()
            if self._is_set_up(own):
                self._serve(own)
        except BaseException as error:  # of messages: whoever waits for a result must hear of it
            self._break(f"the ranks of the executor cannot be reached: {error}")
        finally:
            self._ranks.give(own)
            self._ranks.let_go()

    def _is_set_up(self, own):
        if self._setup is None:
            return True
        first = [Future() for _ in own]
        running = dict(zip(own, first, strict=True))
        for rank in own:
            self._ranks.comm.send(self._setup, rank)
        while running:
            if not self._receive(running, deque()):
                time.sleep(_LONGEST)
        failed = next((f.exception() for f in first if f.exception() is not None), None)
        if failed is not None:
            print(failed.__cause__, file=sys.stderr, flush=True)
            self._break("the initializer of an executor failed, with the error above")
        return failed is None

    def _break(self, why):
        with self._changed:
            self._broken = why
            for future, _ in self._tasks:
                if future.set_running_or_notify_cancel():
                    future.set_exception(BrokenExecutor(why))
            self._tasks.clear()

    def _serve(self, own):
        idle, running, pause = deque(own), {}, _SHORTEST
        try:
            while self._waits(idle, running, pause):
                self._send(idle, running)
                pause = _SHORTEST if self._receive(running, idle) else min(2 * pause, _LONGEST)
        except BaseException as error:
            for future in running.values():
                future.set_exception(BrokenExecutor(str(error)))
            raise

    def _waits(self, idle, running, pause):
        """Wait for something to do; whether there is more to come."""
        with self._changed:
            if not running:
                self._changed.wait_for(lambda: self._tasks or self._is_ended)
            elif not (idle and self._tasks):
                self._changed.wait(pause)
            return bool(self._tasks or running or not self._is_ended)

    def _send(self, idle, running):
        while idle:
            with self._changed:
                if not self._tasks:
                    return
                future, task = self._tasks.popleft()
            if future.set_running_or_notify_cancel():
                rank = idle.popleft()
                running[rank] = future
                self._ranks.comm.send(task, rank)

    def _receive(self, running, idle):
        """Whether one of its ranks had something to tell."""
        status = Status()
        for rank in list(running) if len(running) < self._ranks.count else [ANY_SOURCE]:
            if not self._ranks.comm.Iprobe(rank, status=status):
                continue
            done = self._ranks.comm.recv(source=status.source)
            settle(running.pop(status.source), *done)
            idle.append(status.source)
            return True
        return False


def get_comm_workers():
    """The communicator of the ranks that work, for use in tasks that all of them run.

    Returns
    -------
    Comm

    Raises
    ------
    RuntimeError
        On a rank that does not work for an executor.

    Examples
    --------
    >>> from unisono.mpi import futures
    >>> futures.get_comm_workers()
    Traceback (most recent call last):
    RuntimeError: get_comm_workers: this rank does not work for an executor; call it in a task
    """
    if "own" not in _teams:
        raise RuntimeError(
            "get_comm_workers: this rank does not work for an executor; call it in a task"
        )
    return _teams["own"]
