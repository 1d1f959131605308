"""The words of CUDA kernels; `unisono._jit.kernel_words` compiles them to those of `unisono.kernel`."""

from __future__ import annotations


def _only_in_kernels(name):
    raise RuntimeError(
        f"cuda.{name}: only defined inside of a kernel; got a call from Python; decorate the function with "
        f"@cuda.jit and launch it as f[blocks, threads](...)"
    )


class _Index:
    """One of CUDA's indices: ``x``, ``y`` and ``z`` are numbers inside of a kernel."""

    def __init__(self, name, word):
        self._name, self._word = name, word

    def __getattr__(self, name):
        if name in ("x", "y", "z"):
            _only_in_kernels(f"{self._name}.{name}")
        raise AttributeError(f"cuda.{self._name} has no attribute '{name}'; it has x, y and z")

    def __repr__(self):
        return f"<cuda.{self._name}>"


threadIdx = _Index("threadIdx", "local_id")
blockIdx = _Index("blockIdx", "group_id")
blockDim = _Index("blockDim", "local_size")
gridDim = _Index("gridDim", "num_groups")


def grid(ndim):
    """Index of this thread in the whole grid (inside of a kernel).

    Parameters
    ----------
    ndim : int
        1, 2 or 3, a constant.

    Returns
    -------
    int or tuple of int
        Along axis x, or along x, y and z.

    Raises
    ------
    RuntimeError
        Called from Python.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= 2
    >>> a = np.arange(5)
    >>> double[2, 4](a)
    >>> a.tolist()
    [0, 2, 4, 6, 8]
    """
    _only_in_kernels("grid")


def gridsize(ndim):
    """Number of threads of the whole grid, as `grid` (inside of a kernel)."""
    _only_in_kernels("gridsize")


def syncthreads():
    """Wait until all threads of the block are here, their writes seen (inside of a kernel)."""
    _only_in_kernels("syncthreads")


def selp(condition, if_true, if_false):
    """One of two values; `if_true` where the condition holds."""
    return if_true if condition else if_false


class shared:
    """Memory that the threads of a block share."""

    @staticmethod
    def array(shape, dtype):
        """An array of the block (inside of a kernel).

        Parameters
        ----------
        shape : int or tuple of int
            Constants. 0 takes what the launch gives as its fourth number, in bytes.
        dtype : dtype
        """
        _only_in_kernels("shared.array")


def shared_memory(dtype, size, alignment=None):
    """`shared.array` as CuPy writes it (inside of a kernel); a `size` of None takes what the launch gives."""
    _only_in_kernels("shared_memory")


class local:
    """Memory of a thread."""

    @staticmethod
    def array(shape, dtype):
        """An array of the thread, of constant shape (inside of a kernel)."""
        _only_in_kernels("local.array")


class const:
    """Memory that kernels only read."""

    @staticmethod
    def array_like(array):
        """An array that kernels only read.

        Parameters
        ----------
        array : array
            A global of the kernel's module, or a variable around the kernel.

        Returns
        -------
        array
            The same; each launch reads what it holds then.
        """
        return array
