"""CuPy's names over this library: ``import unisono.cupy as cp`` runs a CuPy program on every device.

Names that are not CuPy's own are those of `unisono`. New arrays are made on the current device of `unisono.cuda`: the one
chosen, else the first CUDA device, else the CPU.
"""

from __future__ import annotations

import functools

import unisono as _un

from .._raw.elementwise import ElementwiseKernel
from .._raw.kernels import RawKernel, RawModule
from .._raw.reduction import ReductionKernel
from ..cuda.devices import current_device as _current_device
from . import cuda

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "asnumpy",
    "cuda",
    "fuse",
    "get_array_module",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
]

_new = frozenset(
    """
    arange array asarray ascontiguousarray asfortranarray empty empty_like eye full full_like identity linspace logspace
    ones ones_like tri zeros zeros_like""".split()
)
_like = frozenset("empty_like full_like ones_like zeros_like".split())


def __getattr__(name):
    value = getattr(_un, name)
    if name in _new:
        value = _on_current_device(value)
        globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_un)})


def _on_current_device(function):
    @functools.wraps(function)
    def made(*args, **options):
        given = args[0] if args else None
        if options.get("device") is not None or (
            isinstance(given, _un.ndarray) and given.device.name != "cpu"
        ):
            return function(*args, **options)
        device = _current_device()
        if device.name == "cpu":
            return function(*args, **options)
        with _un.device(device):
            result = function(*args, **options)
        return result if result.device == device else result.to_device(device)

    return made


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """A NumPy array of an array's elements.

    Parameters
    ----------
    a : array or sequence
    stream, blocking : optional
        CuPy's, without effect: it waits.
    order : {'C', 'F', 'A', 'K'}
    out : numpy.ndarray, optional
        It is filled and returned.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.asnumpy(cp.arange(3))
    array([0, 1, 2])
    """
    if isinstance(a, _un.ndarray):
        return a.get(order=order, out=out)
    import numpy

    made = numpy.asarray(a, order=order)
    if out is None:
        return made
    out[...] = made
    return out


def get_array_module(*args):
    """This module where an argument is an array of ours, else NumPy.

    Parameters
    ----------
    *args : object

    Returns
    -------
    module
    """
    import sys

    if any(isinstance(a, _un.ndarray) for a in args):
        return sys.modules[__name__]
    import numpy

    return numpy


def fuse(*args, **options):
    """A decorator that leaves a function as it is: its statements are recorded and run as one kernel anyway.

    Parameters
    ----------
    *args : function, optional
    kernel_name : str, optional

    Returns
    -------
    function
    """
    unknown = set(options) - {"kernel_name"}
    if unknown:
        raise TypeError(f"fuse: unknown options; got {sorted(unknown)}; expected kernel_name")
    return args[0] if args else lambda function: function


class _Pool:
    """CuPy's names of a memory pool, for that of the current device."""

    def __init__(self, is_pinned=False):
        self._is_pinned = is_pinned

    def _stats(self):
        return _un.memory.stats(_current_device())

    def used_bytes(self):
        """Bytes that arrays use."""
        return self._stats()["in_use"]

    def free_bytes(self):
        """Bytes that are kept for reuse."""
        return self._stats()["cached"]

    def total_bytes(self):
        """Both together."""
        return self.used_bytes() + self.free_bytes()

    def n_free_blocks(self):
        """1 where memory is kept for reuse."""
        return int(self.free_bytes() > 0)

    def free_all_blocks(self, stream=None):
        """Give back what is kept for reuse."""
        _un.memory.trim(_current_device())

    def get_limit(self):
        """The most bytes that arrays may use."""
        return self._stats()["limit"]


def get_default_memory_pool():
    """The pool of the current device, with `used_bytes`, `free_all_blocks` and the like."""
    return _Pool()


def get_default_pinned_memory_pool():
    """The same pool: memory of the host is kept with it."""
    return _Pool(is_pinned=True)
