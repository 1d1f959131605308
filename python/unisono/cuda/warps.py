"""The warp functions, votes and bit functions of Numba's CUDA in kernels, and fences.

A warp is 32 threads of a block that follow each other, on every device. All threads of the block call its functions, which
exchange values through the block's memory; masks are not looked at. `unisono._jit.warp_library` has what compiled code
runs for them.
"""

from __future__ import annotations

from .words import _only_in_kernels

warpsize = 32


class _Lane:
    """``cuda.laneid``: a number inside of a kernel."""

    def __index__(self):
        _only_in_kernels("laneid")

    def __repr__(self):
        return "<cuda.laneid>"


laneid = _Lane()


def shfl_sync(mask, value, src_lane):
    """The value of another thread of the warp (inside of a kernel).

    Parameters
    ----------
    mask : int
        Without effect: all threads of the block call the function.
    value : number
    src_lane : int
        Whose value, by `laneid`.

    Returns
    -------
    number

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.jit
    ... def total(a):
    ...     i = cuda.grid(1)
    ...     x = a[i]
    ...     for k in (16, 8, 4, 2, 1):
    ...         x += cuda.shfl_down_sync(0xFFFFFFFF, x, k)
    ...     a[i] = x
    >>> a = np.arange(32.0)
    >>> total[1, 32](a)
    >>> float(a[0])
    496.0
    """
    _only_in_kernels("shfl_sync")


def shfl_up_sync(mask, value, delta):
    """The value of the thread `delta` before this one in the warp, or its own (inside of a kernel)."""
    _only_in_kernels("shfl_up_sync")


def shfl_down_sync(mask, value, delta):
    """The value of the thread `delta` behind this one in the warp, or its own (inside of a kernel)."""
    _only_in_kernels("shfl_down_sync")


def shfl_xor_sync(mask, value, lane_mask):
    """The value of the thread whose lane is this one's with the bits of `lane_mask` flipped (inside of a kernel)."""
    _only_in_kernels("shfl_xor_sync")


def all_sync(mask, predicate):
    """Whether all threads of the warp say yes (inside of a kernel)."""
    _only_in_kernels("all_sync")


def any_sync(mask, predicate):
    """Whether a thread of the warp says yes (inside of a kernel)."""
    _only_in_kernels("any_sync")


def eq_sync(mask, predicate):
    """Whether all threads of the warp say the same (inside of a kernel)."""
    _only_in_kernels("eq_sync")


def ballot_sync(mask, predicate):
    """A uint32 with a bit for each thread of the warp that says yes (inside of a kernel)."""
    _only_in_kernels("ballot_sync")


def match_any_sync(mask, value):
    """A uint32 with a bit for each thread of the warp that has the same value (inside of a kernel)."""
    _only_in_kernels("match_any_sync")


def match_all_sync(mask, value):
    """The threads of the warp as bits and True if all have the same value, else 0 and False (inside of a kernel)."""
    _only_in_kernels("match_all_sync")


def activemask():
    """A uint32 with a bit for each thread of the warp (inside of a kernel)."""
    _only_in_kernels("activemask")


def lanemask_lt():
    """A uint32 with a bit for each thread of the warp before this one (inside of a kernel)."""
    _only_in_kernels("lanemask_lt")


def syncwarp(mask=0xFFFFFFFF):
    """Wait until all threads of the warp are here, their writes seen (inside of a kernel)."""
    _only_in_kernels("syncwarp")


def syncthreads_count(predicate):
    """As `syncthreads`; the number of threads of the block that say yes (inside of a kernel)."""
    _only_in_kernels("syncthreads_count")


def syncthreads_and(predicate):
    """As `syncthreads`; 1 if all threads of the block say yes, else 0 (inside of a kernel)."""
    _only_in_kernels("syncthreads_and")


def syncthreads_or(predicate):
    """As `syncthreads`; 1 if a thread of the block says yes, else 0 (inside of a kernel)."""
    _only_in_kernels("syncthreads_or")


def popc(x):
    """The number of bits of an integer that are 1 (inside of a kernel)."""
    _only_in_kernels("popc")


def clz(x):
    """The number of leading bits of an integer that are 0 (inside of a kernel)."""
    _only_in_kernels("clz")


def ffs(x):
    """The position, from 1 on, of the lowest bit of an integer that is 1; 0 of 0 (inside of a kernel)."""
    _only_in_kernels("ffs")


def brev(x):
    """The integer with its bits in the reverse order (inside of a kernel)."""
    _only_in_kernels("brev")


def nanosleep(ns):
    """Wait about so many nanoseconds at most (inside of a kernel): a fence, since other threads run meanwhile anyway.

    Parameters
    ----------
    ns : int
    """
    _only_in_kernels("nanosleep")


def threadfence():
    """Order this thread's accesses to memory before it and behind it, as the device sees them (inside of a kernel)."""
    _only_in_kernels("threadfence")


def threadfence_block():
    """As `threadfence`, as the block sees them (inside of a kernel)."""
    _only_in_kernels("threadfence_block")


def threadfence_system():
    """As `threadfence`, as all see them (inside of a kernel)."""
    _only_in_kernels("threadfence_system")


def fma(a, b, c):
    """``a * b + c``, rounded once (inside of a kernel)."""
    _only_in_kernels("fma")
