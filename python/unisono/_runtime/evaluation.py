"""Evaluation and settings."""

from .. import _engine


def explain(x, code=False):
    """Describe what computing `x` will run, without computing it.

    Parameters
    ----------
    x : ndarray
    code : bool
        Also the generated code of the kernels that were compiled so far.

    Returns
    -------
    str
        Kernels, the lines they come from, what fused and why not more, bytes, kernel IR, and why the last
        evaluations took place. A notebook shows it as a picture; ``.to_dot()`` gives the graph to Graphviz.

    Raises
    ------
    TypeError
        If `x` is not an array.

    Examples
    --------
    >>> import unisono as un
    >>> print(un.explain(un.ones(3) + 1).splitlines()[0])
    2 pending operations
    """
    from .._tools.explain import Explanation

    return Explanation(_engine._explain(x, code))


def stats():
    """Counters of what the engine did since it was loaded.

    Returns
    -------
    dict of int
        ``kernels_launched`` and ``kernels_compiled``; ``launches_proven``: of kernels on devices, without tests of
        indices, since the numbers of the launch showed that all are in range; ``bytes_allocated``, of which ``bytes_fresh`` came from the
        system, ``bytes_in_use`` and ``peak_bytes``; ``bytes_copied`` between host and devices or libraries,
        ``bytes_read`` and ``bytes_written`` by kernels; ``flushes``, ``flushes_that_waited`` for what another thread
        computed, ``plans_formed``, ``messages_sent`` to other ranks, ``bytes_gathered`` from them so that this rank has
        all of a distributed array, ``bytes_in_panels``: the same of panels, which algorithms take one after the other
        of an array that no rank has all of, ``pending_operations``, and ``layouts``: pairs of a shape and strides that are kept.

    Examples
    --------
    >>> import unisono as un
    >>> before = un.stats()["kernels_launched"]
    >>> x = un.eval(un.ones(100) + 1)
    >>> un.stats()["kernels_launched"] - before
    1
    """
    return _engine._stats()


def flush_log():
    """The last evaluations, oldest first: where and why something ran.

    Returns
    -------
    list of dict
        ``reason``, ``operations``, ``kernels``, ``bytes`` read and written, ``file`` and ``line`` of the last
        operation, and ``calls``: names of operations that are no kernels of the tape, the launch of a compiled
        function last. What a launch waits for has one row with it.

    Examples
    --------
    >>> import unisono as un
    >>> float((un.ones(3) + 1).sum())
    6.0
    >>> un.flush_log()[-1]["reason"]
    'a value was read'
    """
    return _engine._flush_log()


def set_num_threads(n):
    """Set how many threads parallel work uses.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    ValueError
        If the number is less than 1.

    Examples
    --------
    >>> import unisono as un
    >>> before = un.get_num_threads()
    >>> un.set_num_threads(1)
    >>> un.get_num_threads()
    1
    >>> un.set_num_threads(before)
    """
    _engine._set_num_threads(n)


def get_num_threads():
    """How many threads parallel work uses.

    Returns
    -------
    int

    Examples
    --------
    >>> import unisono as un
    >>> un.get_num_threads() >= 1
    True
    """
    return _engine._get_num_threads()


def synchronize():
    """Compute all that is pending and wait for all devices.

    Raises
    ------
    DeviceError
        If a device failed.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.ones(3) + 1
    >>> un.synchronize()
    >>> un.stats()["pending_operations"]
    0
    """
    _engine._synchronize()


class eager:
    """Run each statement at its line: inside a ``with`` block, in a decorated function, or from now on.

    Examples
    --------
    >>> import unisono as un
    >>> with un.eager():
    ...     x = un.ones(3) + 1
    """

    def __init__(self, on=True):
        self._before = _engine._is_eager()
        _engine._set_eager(on)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def run(*args, **options):
            with self:
                return function(*args, **options)

        return run

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        _engine._set_eager(self._before)
        return False
