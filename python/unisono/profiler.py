"""Times of calls, with CuPy's `benchmark`: what the host took, and what the device did meanwhile."""

from __future__ import annotations

import math
import time

__all__ = ["PerfCaseResult", "benchmark"]


class PerfCaseResult:
    """Times of the repetitions of a call.

    Attributes
    ----------
    name : str
    cpu_times : numpy.ndarray
        Seconds that each call took on the host.
    gpu_times : numpy.ndarray
        Seconds from each call to the end of what it launched, a row for each device.
    """

    def __init__(self, name, times, devices):
        self.name, self._times, self._devices = name, times, devices

    @property
    def cpu_times(self):
        """Seconds that each call took on the host."""
        return self._times[0]

    @property
    def gpu_times(self):
        """Seconds from each call to the end of what it launched, a row for each device."""
        return self._times[1:]

    @staticmethod
    def _item(device, seconds):
        us = seconds * 1e6
        text = f"    {device}: {us.mean():9.03f} us"
        if us.size > 1:
            text += f"   +/- {us.std():6.03f} (min: {us.min():9.03f} / max: {us.max():9.03f}) us"
        return text

    def to_str(self, show_gpu=False):
        """One line, with the devices' times where they are asked for."""
        rows = [self._item("CPU", self._times[0])]
        if show_gpu:
            rows += [
                self._item(f"GPU-{d}", t)
                for d, t in zip(self._devices, self._times[1:], strict=True)
            ]
        return f"{self.name:<20s}:{' '.join(rows)}"

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None
):  # fmt: skip
    """Time calls of a function.

    Parameters
    ----------
    func : callable
    args : tuple
    kwargs : dict, optional
    n_repeat : int
        Calls that are timed.
    name : str, optional
        By default that of the function.
    n_warmup : int
        Calls before these.
    max_duration : float
        Seconds after which no further call is begun.
    devices : sequence of int, optional
        Numbers under which the device's times are shown; by default 0.

    Returns
    -------
    PerfCaseResult
        Prints as CuPy's: the host's time, and that to the end of what was launched. A device has no clock of its own
        here: its times are the host's, until all work was done. Where calls are done at once, as on the CPU, both
        are nearly equal.

    Raises
    ------
    ValueError
        If `func` cannot be called, or a count is negative.

    Examples
    --------
    >>> import unisono as un
    >>> print(un.profiler.benchmark(abs, (-1,), n_repeat=5))  # doctest: +ELLIPSIS
    abs                 :    CPU: ... us   +/- ... us     GPU-0: ... us
    """
    import numpy as np

    from . import synchronize

    if not callable(func):
        raise ValueError(
            f"benchmark: func is called; got {type(func).__name__}; give a function, and its args apart"
        )
    if n_repeat < 1 or n_warmup < 0:
        raise ValueError(
            f"benchmark: n_repeat is at least 1 and n_warmup at least 0; got {n_repeat} and {n_warmup}; give counts"
        )
    kwargs = kwargs or {}
    for _ in range(n_warmup):
        func(*args, **kwargs)
    synchronize()
    host, device = [], []
    begun = time.perf_counter()
    for _ in range(n_repeat):
        t0 = time.perf_counter()
        func(*args, **kwargs)
        t1 = time.perf_counter()
        synchronize()
        t2 = time.perf_counter()
        host.append(t1 - t0)
        device.append(t2 - t0)
        if t2 - begun > max_duration:
            break
    devices = (0,) if devices is None else tuple(devices)
    return PerfCaseResult(
        name or getattr(func, "__name__", repr(func)),
        np.array([host, *[device for _ in devices]]),
        devices,
    )
