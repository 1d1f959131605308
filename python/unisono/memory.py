"""The host memory that arrays use: what it holds, its limit, and giving back what is kept for reuse.

Freed arrays leave their memory in a pool, so that a program that cycles through its arrays touches no fresh page. The
pool keeps at most half of the limit and gives everything back before an allocation fails.
"""

from . import _engine


def stats():
    """Bytes of host memory, by use.

    Returns
    -------
    dict
        ``in_use`` by arrays, ``peak`` of that since the process began, ``cached`` in the pool for reuse, ``limit`` of
        ``in_use``, and ``total_allocated`` over the life of the process.

    Examples
    --------
    >>> import unisono as un
    >>> un.memory.stats()["in_use"] <= un.memory.stats()["limit"]
    True
    """
    counters = _engine.stats()
    return {
        "in_use": counters["bytes_in_use"],
        "peak": counters["peak_bytes"],
        "cached": _engine._cached_bytes(),
        "limit": _engine._memory_limit(),
        "total_allocated": counters["bytes_allocated"],
    }


def set_limit(bytes):
    """Let arrays use at most that many bytes of host memory; an allocation beyond raises MemoryError.

    Parameters
    ----------
    bytes : int or None
        None: all memory of the machine, or of the control group that the process is in (the default).

    Raises
    ------
    TypeError, ValueError
        If `bytes` is no whole number, or not positive.

    Examples
    --------
    >>> import unisono as un
    >>> un.memory.set_limit(2 * 10**9)
    >>> un.memory.set_limit(None)
    """
    if bytes is None:
        bytes = 0
    elif isinstance(bytes, bool) or not hasattr(bytes, "__index__"):
        raise TypeError(
            f"set_limit: the limit is no whole number; got {bytes!r}; expected bytes or None"
        )
    elif bytes.__index__() <= 0:
        raise ValueError(f"set_limit: the limit is not positive; got {bytes}; expected bytes")
    _engine._set_memory_limit(bytes.__index__())


def trim():
    """Give the memory that the pool keeps for reuse back to the system.

    Examples
    --------
    >>> import unisono as un
    >>> un.memory.trim()
    >>> un.memory.stats()["cached"]
    0
    """
    _engine._trim()
