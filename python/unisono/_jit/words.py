"""The words that compiled functions and kernels know; called from Python they do what they can there."""

from __future__ import annotations

import threading

from .._loaded import loaded

_locks = [threading.RLock() for _ in range(64)]


def prange(*args, schedule=None, chunk=None, chunksize=None, num_threads=None):
    """A range whose iterations may run in parallel in a compiled function.

    Parameters
    ----------
    *args : int
        As for `range`.
    schedule : str, optional
        How iterations are shared out: ``"static"`` (the default: long runs of them), ``"dynamic"``
        (chunk by chunk, as threads come free) or ``"guided"`` (likewise, in longer chunks).
    chunk, chunksize : int, optional
        Iterations that one thread runs in order; of ``"dynamic"`` 1. Chunks that are shorter than a
        cache line of what the loop writes draw a warning.
    num_threads : int, optional
        At most so many threads run the loop.

    Returns
    -------
    range
        Outside of compiled functions it is `range`, so that the Python function still runs.

    Notes
    -----
    Variables assigned in the body are private to each iteration; those combined by ``+= -= *= &=
    |= ^=`` or ``x = min(x, ...)`` and ``max`` are reductions. A dependence between iterations that
    is proven is refused. ``f.parallel_report()`` prints what was inferred.

    Examples
    --------
    >>> import unisono as un
    >>> [i for i in un.prange(3)]
    [0, 1, 2]
    """
    watcher = loaded("unisono._jit.interpret")
    if watcher is not None and watcher.is_active():
        return watcher.iterations(range(*args))
    return range(*args)


class parallel:
    """A block of a compiled function that threads run, each with variables of its own.

    Parameters
    ----------
    num_threads : int, optional
        How many; by default `get_num_threads` when the function is compiled.

    Notes
    -----
    Variables assigned in the block belong to each thread; those from before that are only combined
    (``+=`` and the like) are reductions. A loop over `prange` in the block is shared out among its
    threads; a serial loop around one may stand there too. All wait at `barrier`, and behind a loop
    whose results are used later. `thread_id` and `team_size` tell who runs. Threads are logical:
    results do not depend on how many cores there are. Outside of compiled functions the block runs
    as the only thread.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def sums(a, out):
    ...     with un.parallel(num_threads=2):
    ...         mine = 0.0
    ...         for i in un.prange(a.shape[0]):
    ...             mine += a[i]
    ...         out[un.thread_id()] = mine
    >>> out = np.zeros(2)
    >>> sums(np.arange(4.0), out)
    >>> out.tolist()
    [1.0, 5.0]
    """

    def __init__(self, num_threads=None):
        self.num_threads = num_threads

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class lock:
    """A block of a compiled function that one thread at a time runs.

    Parameters
    ----------
    key : int, optional
        Blocks of different numbers may run at once; there are 64 locks, which numbers share.

    Notes
    -----
    Elements of arrays that several iterations of a `prange` change are no conflict where each of
    them does so under a lock. A thread may take a lock again that it holds. The lock is given
    back however the block ends.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def count(keys, largest):
    ...     for i in un.prange(len(keys)):
    ...         with un.lock():
    ...             if keys[i] > largest[0]:
    ...                 largest[0] = keys[i]
    ...                 largest[1] = i
    >>> found = np.zeros(2, np.int64)
    >>> count(np.array([3, 9, 4]), found)
    >>> found.tolist()
    [9, 1]
    """

    def __init__(self, key=0):
        self.key = key

    def __enter__(self):
        _locks[self.key % len(_locks)].acquire()
        return self

    def __exit__(self, *error):
        _locks[self.key % len(_locks)].release()


class tasks:
    """A block of a compiled function whose blocks `task` run in parallel, in any order, at its end.

    Notes
    -----
    The other statements of the block run first, in order. A task takes with it what the names that
    it reads stand for where it is met, if the block assigns them; what it assigns is its own. Its
    results it stores into arrays. Outside of compiled functions tasks run where they stand.

    In a region of `parallel` the block is met by all threads: one runs its statements, then the
    threads take the tasks in turn, the first thread the first one, and wait for each other at the
    end. A task reads the variables of the thread that runs it, and `thread_id` is that thread's.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def sums(a, begins, out):
    ...     with un.tasks():
    ...         k = 0
    ...         while k + 1 < len(begins):
    ...             begin, end = begins[k], begins[k + 1]
    ...             with un.task():
    ...                 out[k] = a[begin:end].sum()
    ...             k += 1
    >>> out = np.zeros(2)
    >>> sums(np.arange(5.0), np.array([0, 2, 5]), out)
    >>> out.tolist()
    [1.0, 9.0]
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class task:
    """A block inside of `tasks` that may run at the same time as others.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def both(a, out):
    ...     with un.tasks():
    ...         with un.task():
    ...             out[0] = a.min()
    ...         with un.task():
    ...             out[1] = a.max()
    >>> out = np.zeros(2)
    >>> both(np.arange(3.0), out)
    >>> out.tolist()
    [0.0, 2.0]
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class python:
    """A block of a compiled function that the interpreter runs.

    Names that the block reads are passed in, and those that it assigns come back: numbers, texts,
    arrays (which are shared when read, and copied when assigned) and tuples of these. A name that
    is assigned has the type that it had before, or the one of its annotation; one that nothing
    outside of the block uses ends with it.

    Raises
    ------
    TypeError
        When the block ends, where a name has another type; the text says what to annotate.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jit
    ... def f(n):
    ...     total = 0.0
    ...     for i in range(n):
    ...         total += i
    ...     digits = 0
    ...     with un.python():
    ...         import decimal
    ...
    ...         digits = len(decimal.Decimal(total).as_tuple().digits)
    ...     return total, digits
    >>> f(100)
    (4950.0, 4)
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def thread_id():
    """Number of the thread that runs a region of `parallel`; 0 outside of compiled functions.

    Returns
    -------
    int
        From 0 up to `team_size`, exclusive.

    Examples
    --------
    >>> import unisono as un
    >>> un.thread_id()
    0
    """
    return 0


def team_size():
    """Number of threads of a region of `parallel`; 1 outside of compiled functions.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> import unisono as un
    >>> un.team_size()
    1
    """
    return 1


def _only_in_kernels(name):
    raise RuntimeError(
        f"{name}: only defined inside of a kernel; got a call from Python; "
        f"decorate the function with @un.kernel and launch it as f[size](...)"
    )


def global_id(axis):
    """Index of this work-item in the whole range along `axis` (inside of a kernel)."""
    _only_in_kernels("global_id")


def local_id(axis):
    """Index of this work-item in its work-group along `axis` (inside of a kernel)."""
    _only_in_kernels("local_id")


def group_id(axis):
    """Index of this work-item's group along `axis` (inside of a kernel)."""
    _only_in_kernels("group_id")


def global_size(axis):
    """Number of work-items along `axis` (inside of a kernel)."""
    _only_in_kernels("global_size")


def local_size(axis):
    """Number of work-items of a group along `axis` (inside of a kernel)."""
    _only_in_kernels("local_size")


def num_groups(axis):
    """Number of work-groups along `axis` (inside of a kernel)."""
    _only_in_kernels("num_groups")


def local_array(shape, dtype):
    """An array shared by the work-items of a group; its shape is constant (inside of a kernel)."""
    _only_in_kernels("local_array")


def barrier():
    """Wait until all work-items of the group are here, their writes seen (inside of a kernel)."""
    _only_in_kernels("barrier")


def local_linear_id():
    """Index of this work-item in its work-group over all axes, axis 0 the fastest (inside of a kernel)."""
    _only_in_kernels("local_linear_id")


def local_linear_size():
    """Number of work-items of a group over all axes (inside of a kernel)."""
    _only_in_kernels("local_linear_size")


def warp_ballot(predicate):
    """A bit for each work-item of the warp, on CUDA devices only (inside of a kernel of the engine's own).

    All of a warp call it; `sub_group_ballot` is what runs everywhere.
    """
    _only_in_kernels("warp_ballot")


def warp_barrier():
    """What the warp's work-items wrote before is seen by the others behind it; as `warp_ballot`."""
    _only_in_kernels("warp_barrier")


def mem_fence(flags=0):
    """Order this work-item's accesses to memory before it and behind it, as others see them (inside of a kernel).

    Parameters
    ----------
    flags : int
        OpenCL's, without effect: all memory is ordered.

    Notes
    -----
    Nobody waits: see `barrier`. Work-items of a group may run one after the other on a CPU, so that one that waits in a loop
    for what another of its group writes may wait for ever.
    """
    _only_in_kernels("mem_fence")
