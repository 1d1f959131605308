"""``cupyx.jit``: kernels in Python with CuPy's names, which are those of `unisono.cuda`."""

from __future__ import annotations

from .. import atomic as _atomic
from ..cuda import jit as _jit
from ..cuda import syncthreads, syncwarp
from ..cuda.words import (
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    shared_memory,
    threadIdx,
)

__all__ = [
    "atomic_add", "atomic_and", "atomic_cas", "atomic_dec", "atomic_exch", "atomic_inc", "atomic_max", "atomic_min",
    "atomic_or", "atomic_sub", "atomic_xor", "blockDim", "blockIdx", "grid", "gridDim", "gridsize", "range", "rawkernel",
    "shared_memory", "syncthreads", "syncwarp", "threadIdx", "warpsize",
]  # fmt: skip

atomic_add, atomic_sub, atomic_exch = _atomic.add, _atomic.sub, _atomic.exch
atomic_max, atomic_min, atomic_cas = _atomic.max, _atomic.min, _atomic.cas
atomic_and, atomic_or, atomic_xor = _atomic.and_, _atomic.or_, _atomic.xor
atomic_inc, atomic_dec = _atomic.inc, _atomic.dec
range = range
warpsize = 32


class RawKernel:
    """A kernel, launched as ``f[blocks, threads](...)`` or ``f(blocks, threads, arguments)``; made by `rawkernel`."""

    def __init__(self, function):
        self._kernel = _jit(function)
        self.__name__, self.__doc__, self.__wrapped__ = (
            function.__name__,
            function.__doc__,
            function,
        )

    def __getitem__(self, launch):
        return self._kernel[launch]

    def __call__(self, grid, block, args, shared_mem=0, stream=None):
        """Launch it.

        Parameters
        ----------
        grid, block : int or tuple of int
            Numbers of blocks, and of threads of a block.
        args : tuple
        shared_mem : int
            Bytes of ``shared_memory(dtype, None)``.
        stream : Stream, optional
        """
        self._kernel[grid, block, stream or 0, shared_mem](*args)

    def __repr__(self):
        return f"<cupyx.jit.rawkernel {self.__name__}>"


def rawkernel(mode="cuda", device=False):
    """Compile a kernel, or with `device` a function that kernels call.

    Parameters
    ----------
    mode : {"cuda", "numpy"}
        Without effect: integers are those of compiled functions, and of NumPy's scalar types where the kernel names them.
    device : bool

    Returns
    -------
    decorator

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> from unisono.cupyx import jit
    >>> @jit.rawkernel()
    ... def double(x, n):
    ...     i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    ...     if i < n:
    ...         x[i] *= 2
    >>> x = cp.arange(5)
    >>> double((2,), (4,), (x, 5))
    >>> x.tolist()
    [0, 2, 4, 6, 8]
    """
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"rawkernel: mode is 'cuda' or 'numpy'; got {mode!r}")

    def decorated(function):
        return _jit(function, device=True) if device else RawKernel(function)

    return decorated
