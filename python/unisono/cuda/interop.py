"""Names of Numba's CUDA for arrays of other libraries, mapped memory, default streams and the driver's profiler."""

from __future__ import annotations

import contextlib

from .. import _engine
from .devices import default_stream, mapped_array, to_device

__all__ = [
    "as_cuda_array",
    "from_cuda_array_interface",
    "legacy_default_stream",
    "mapped",
    "mapped_array_like",
    "per_thread_default_stream",
    "profile_start",
    "profile_stop",
    "profiling",
]


class _Described:
    """An object with the memory that a description names; it keeps the memory's owner alive."""

    def __init__(self, description, owner):
        self.__cuda_array_interface__, self._owner = description, owner


def as_cuda_array(obj, sync=True):
    """The array of an object with ``__cuda_array_interface__``, whose memory it shares; arrays of ours as they are.

    Parameters
    ----------
    obj : object
    sync : bool
        Without effect: our device's queue waits for the stream that the object names.

    Returns
    -------
    unisono.ndarray

    Raises
    ------
    TypeError
        If the object is no array of a device.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> x = cuda.to_device(np.arange(3))
    >>> cuda.as_cuda_array(x) is x
    True
    """
    if isinstance(obj, _engine._Array):
        return obj
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError(
            f"as_cuda_array: expected an object with __cuda_array_interface__; got {type(obj).__name__}; "
            f"use cuda.to_device for arrays of the host"
        )
    import unisono as un

    return un.asarray(obj)


def from_cuda_array_interface(desc, owner=None, sync=True):
    """The array that a description as of ``__cuda_array_interface__`` names.

    Parameters
    ----------
    desc : dict
    owner : object, optional
        Kept alive while the array lives.
    sync : bool
        As of `as_cuda_array`.

    Returns
    -------
    unisono.ndarray
    """
    return as_cuda_array(_Described(desc, owner))


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """`mapped_array` of another array's shape, dtype and order of axes in memory."""
    flags = ary.flags
    order = "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"
    return mapped_array(ary.shape, str(ary.dtype), order=order)


@contextlib.contextmanager
def mapped(*arylist, stream=0):
    """A block with arrays of the current device for arrays of the host, which get back what these hold at its end.

    Parameters
    ----------
    *arylist : numpy.ndarray
    stream : optional
        Without effect.

    Yields
    ------
    unisono.ndarray, or a list of them

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.jit
    ... def double(a):
    ...     a[cuda.grid(1)] *= 2
    >>> a = np.arange(4)
    >>> with cuda.mapped(a) as x:
    ...     double[1, 4](x)
    >>> a.tolist()
    [0, 2, 4, 6]
    """
    made = [to_device(a) for a in arylist]
    try:
        yield made[0] if len(made) == 1 else made
    finally:
        for a, there in zip(arylist, made, strict=True):
            a[...] = there.copy_to_host()


def legacy_default_stream():
    """The stream of launches that name none: 0."""
    return default_stream()


def per_thread_default_stream():
    """As `legacy_default_stream`: statements of a thread are done in order."""
    return default_stream()


def profile_start():
    """Where NVIDIA's profilers would begin to record: they record all that runs; `unisono.profile` is ours."""


def profile_stop():
    """As `profile_start`."""


@contextlib.contextmanager
def profiling():
    """A block that NVIDIA's profilers would record; it runs as it is."""
    yield
