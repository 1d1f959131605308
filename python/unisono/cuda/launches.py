"""``cuda.jit``: kernels launched over blocks of threads, and functions that they call."""

from __future__ import annotations

import operator

from .. import _engine, _jit
from .._jit import unfiled
from .._jit.declared import declare_device
from .devices import Stream, current_device

__all__ = ["Kernel", "declare_device", "jit"]


class Kernel:
    """A kernel, launched as ``f[blocks, threads, stream, shared](...)``; made by `jit`."""

    def __init__(self, function, options):
        if function.__code__.co_filename[:1] == "<":  # its text is found from where it is decorated
            unfiled.note(function)
        self._function, self._options = function, options
        self._variants = {}  # by device and bytes of shared memory
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self.__wrapped__ = self.py_func = function

    def _kernel(self, device, shared):
        made = self._variants.get((device, shared))
        if made is None:
            options = {**self._options, "captures": True, "shared_bytes": shared}
            made = kernel_of(self._function, device, options)
            self._variants[device, shared] = made
        return made

    def __getitem__(self, launch):
        given = launch if isinstance(launch, tuple) else (launch,)
        if not 2 <= len(given) <= 4:
            raise ValueError(
                f"{self.__name__}: a launch has 2 to 4 entries; got {len(given)}; write "
                f"{self.__name__}[blocks, threads](...), optionally with a stream and bytes of shared memory"
            )
        return Launch(self, *given)

    def __call__(self, *args):
        raise ValueError(
            f"{self.__name__}: a kernel is launched over blocks of threads; got a plain call; write "
            f"{self.__name__}[blocks, threads](...), or decorate it with @cuda.jit(device=True) for calls from kernels"
        )

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """A launch over a number of tasks, in blocks of a size that is chosen.

        Parameters
        ----------
        ntasks : int
            The kernel must test its index: blocks are whole.
        tpb : int, optional
            Threads per block.
        stream, sharedmem : optional
            As of the launch.

        Returns
        -------
        Launch
            To be called with the arguments.
        """
        threads = tpb or max(1, min(256, current_device().max_work_group_size or 256))
        return Launch(self, -(-max(ntasks, 0) // threads), threads, stream, sharedmem)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """The launch ``f[griddim, blockdim, stream, sharedmem]``."""
        return Launch(self, griddim, blockdim, stream, sharedmem)

    def specialize(self, *args):
        """The kernel itself: it is compiled for the types of each call."""
        return self

    @property
    def signatures(self):
        """The argument types compiled so far."""
        return [s for k in self._variants.values() for s in k.signatures]

    def inspect_llvm(self, signature=None):
        """The generated code."""
        return "\n".join(str(k.inspect_llvm()) for k in self._variants.values())

    inspect_asm = inspect_llvm

    def __repr__(self):
        return f"<cuda.jit {self.__module__}.{self.__qualname__}>"


def kernel_of(function, device, options, flatten=None):
    """A `unisono.kernel` of the function for the device."""
    made = _jit.Kernel(function, True, device, options, flatten=flatten and flatten(options))
    made.axes = made._kernel_axes()[0]
    return made


def sizes(kernel, value, what):
    """One to three numbers of blocks, or of threads, as a tuple of three."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(given) <= 3:
        raise ValueError(
            f"{kernel}: {what} have 1 to 3 axes; got {len(given)}; give an int or a tuple of up to three"
        )
    try:
        given = tuple(operator.index(n) for n in given)
    except TypeError:
        raise TypeError(
            f"{kernel}: {what} are integers; got {value!r}; use // to divide sizes"
        ) from None
    if min(given) < (1 if what == "threads" else 0):
        raise ValueError(
            f"{kernel}: {what} are positive; got {value!r}; give a number for each axis"
        )
    return (*given, 1, 1)[:3]


def ranges(axes, blocks, threads):
    """Global and local sizes of a launch, of as many axes as it or the kernel has."""
    used = max([axes, *(k + 1 for k in range(3) if blocks[k] != 1 or threads[k] != 1)])
    return tuple(b * t for b, t in zip(blocks, threads, strict=True))[:used], threads[:used]


class Launch:
    """A kernel with its blocks and threads: call it with the arguments."""

    __slots__ = ("_blocks", "_kernel", "_shared", "_stream", "_threads")

    def __init__(self, kernel, blocks, threads, stream=0, shared=0):
        self._kernel = kernel
        self._blocks = sizes(kernel.__name__, blocks, "blocks")
        self._threads = sizes(kernel.__name__, threads, "threads")
        if stream and not isinstance(stream, Stream):
            raise TypeError(
                f"{kernel.__name__}: the stream is one of cuda.stream(), or 0; got {type(stream).__name__}; "
                f"the third entry of a launch is the stream, the fourth the bytes of shared memory"
            )
        self._stream, self._shared = stream, shared

    def __call__(self, *args):
        device = _device_of(args) or current_device().name
        kernel = self._kernel._kernel(device, self._shared)
        over, local = ranges(kernel.axes, self._blocks, self._threads)
        if not self._stream:
            kernel._launch(over, local, args, {})
            return
        with self._stream.statements():
            kernel._launch(over, local, args, {})


def _device_of(args):
    for a in args:
        if isinstance(a, _engine._Array) and a.device.name != "cpu":
            return a.device.name
    return None


def jit(func_or_sig=None, device=False, inline="never", link=(), debug=None, opt=None, **options):
    """Compile a kernel, or a function that kernels call.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures, optional
        Given a signature the kernel takes these types only, to which numbers are converted.
    device : bool
        True makes a function that kernels call and that returns a value, as `unisono.jit` does.
    link : str, path or list of them, optional
        C text or files with the functions that `declare_device` declared.
    inline, debug, opt, lineinfo, fastmath, max_registers, cache, boundscheck : optional
        As of `unisono.jit`, or without effect.

    Returns
    -------
    Kernel or JitFunction
        A kernel is launched as ``f[blocks, threads](...)``, with a stream and bytes of shared memory as third and
        fourth entry. Arrays of the host are copied to the current device and back.

    Raises
    ------
    TypeError
        For an option that is not known.
    CompileError
        When it is launched: what cannot be compiled, with the line.

    Notes
    -----
    Indices are tested, which CUDA does not do. With signatures a function that has a result is a device function, as
    in Numba.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.jit
    ... def add(x, y, out):
    ...     i = cuda.grid(1)
    ...     if i < out.size:
    ...         out[i] = x[i] + y[i]
    >>> x, out = np.arange(6.0), np.zeros(6)
    >>> add[2, 4](x, x, out)
    >>> out.tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    from .._jit.options import checked
    from .._jit.signatures import is_signature, signatures_of

    for name in ("lineinfo", "max_registers", "abi", "abi_info", "extensions", "lto"):
        options.pop(name, None)
    settings = checked({**options, **({"link": link} if link else {})}, "cuda.jit")
    given = None
    if func_or_sig is not None and is_signature(func_or_sig):
        given, func_or_sig = signatures_of(func_or_sig, "cuda.jit"), None

    def decorated(function):
        if device:
            extra = {"signatures": given} if given else {}
            return _jit._compiled(function, None, {**settings, **extra})
        if not hasattr(function, "__code__"):
            raise TypeError(
                f"cuda.jit: only Python functions can be compiled; got {type(function).__name__}; decorate a "
                f"function made by def"
            )
        return Kernel(function, {**settings, **({"signatures": given} if given else {})})

    return decorated if func_or_sig is None else decorated(func_or_sig)
