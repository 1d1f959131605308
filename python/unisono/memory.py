"""The memory that arrays use, on the host and on devices: what it holds, its limit, and giving back what is kept.

Freed arrays leave their memory in the pool of their device, so that a program that cycles through its arrays asks
neither system nor driver for more. The host's pool keeps at most half of the limit, that of a device a quarter, and
gives everything back before an allocation fails.
"""

from . import _engine


def _device_name(device):
    """Name of a device; None for the host."""
    if device is None:
        return None
    name = _engine._find_device(str(device)).name
    return None if name == "cpu" else name


def stats(device=None):
    """Bytes of memory, by use.

    Parameters
    ----------
    device : Device or str, optional
        By default the host.

    Returns
    -------
    dict
        ``in_use`` by arrays, ``peak`` of that since the process began, ``cached`` in the pool for reuse, ``limit`` of
        ``in_use``, and ``total_allocated``: of the host over the life of the process, of a device what was newly
        taken from its driver. Of a device also ``kinds``: bytes in use by the kind of memory, of which the pool and
        its limit know those of kind ``"device"`` (`unisono.empty`).

    Raises
    ------
    DeviceError
        If there is no such device.

    Examples
    --------
    >>> import unisono as un
    >>> un.memory.stats()["in_use"] <= un.memory.stats()["limit"]
    True
    """
    name = _device_name(device)
    if name is not None:
        return _engine._device_memory(name) | {"kinds": _engine._bytes_by_kind(name)}
    counters = _engine._stats()
    return {
        "in_use": counters["bytes_in_use"],
        "peak": counters["peak_bytes"],
        "cached": _engine._cached_bytes(),
        "limit": _engine._memory_limit(),
        "total_allocated": counters["bytes_allocated"],
    }


def holders(device):
    """What holds the memory of a device.

    Parameters
    ----------
    device : Device or str
        Not the host, whose arrays do not tell.

    Returns
    -------
    list of dict
        For each array's memory ``bytes``, and ``file`` and ``line`` of the statement that wrote it last (0 if none
        did, as in ``un.empty``); the largest first.

    Raises
    ------
    DeviceError
        If there is no such device.
    ValueError
        If it is the host.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     x = un.ones(1000, device=d)
    ...     un.eval(x)
    ...     assert any(row["bytes"] == 8000 for row in un.memory.holders(d))
    """
    name = _device_name(device)
    if name is None:
        raise ValueError(
            f"holders: the host's arrays do not tell what they hold; got {device!r}; expected another device"
        )
    return _engine._device_holders(name)


def set_limit(bytes, device=None):
    """Let arrays use at most that many bytes of memory; an allocation beyond raises MemoryError.

    The error of a device names the largest holders of its memory.

    Parameters
    ----------
    bytes : int or None
        None: all memory of the device; of the host, that of the machine, or of the control group that the process is
        in (the default).
    device : Device or str, optional
        By default the host.

    Raises
    ------
    TypeError, ValueError
        If `bytes` is no whole number, or not positive.
    DeviceError
        If there is no such device.

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
            f"set_limit: the limit is not a whole number; got {bytes!r}; expected bytes or None"
        )
    elif bytes.__index__() <= 0:
        raise ValueError(f"set_limit: the limit is not positive; got {bytes}; expected bytes")
    name = _device_name(device)
    if name is None:
        _engine._set_memory_limit(bytes.__index__())
    else:
        _engine._set_device_memory_limit(name, bytes.__index__())


def trim(device=None):
    """Give the memory that a pool keeps for reuse back to the system, or to the device's driver.

    Parameters
    ----------
    device : Device or str, optional
        By default the host.

    Raises
    ------
    DeviceError
        If there is no such device.

    Examples
    --------
    >>> import unisono as un
    >>> un.memory.trim()
    >>> un.memory.stats()["cached"]
    0
    """
    name = _device_name(device)
    if name is None:
        _engine._trim()
    else:
        _engine._trim_device(name)
