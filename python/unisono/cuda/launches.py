"""``cuda.jit``: kernels launched over blocks of threads, and functions that they call."""

from __future__ import annotations

import math
import operator

from .. import _engine, _jit
from .._jit import unfiled
from .._jit.declared import declare_device
from ._arguments import ArgumentHandler
from .devices import Stream, current_device

__all__ = ["Kernel", "declare_device", "jit"]


class Kernel:
    """A kernel, launched as ``f[blocks, threads, stream, shared](...)``; made by `jit`."""

    def __init__(self, function, options, extensions=(), given=()):
        if function.__code__.co_filename[:1] == "<":  # its text is found from where it is decorated
            unfiled.note(function)
        self._function, self._options = function, options
        self.extensions = list(extensions)
        self._given = given
        self._variants = {}  # by device, bytes of shared memory, and threads of a block that must be known
        self._spans_the_grid = None
        self._device_function = None
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self.__wrapped__ = self.py_func = function

    @property
    def spans_the_grid(self):
        """Whether the threads of all blocks meet, as `cuda.cg.this_grid` asks for."""
        if self._spans_the_grid is None:
            from .cg import spans_the_grid

            self._spans_the_grid = spans_the_grid(self._function)
        return self._spans_the_grid

    def _kernel(self, device, shared, threads=None):
        made = self._variants.get((device, shared, threads))
        if made is None:
            options = {**self._options, "captures": True, "shared_bytes": shared}
            if threads:
                options["block"] = threads
            made = kernel_of(self._function, device, options)
            self._variants[device, shared, threads] = made
        return made

    @property
    def _in_compiled_code(self):
        """What other kernels call by the kernel's name, as in Numba: a function that may return a value."""
        if self._device_function is None:
            self._device_function = _jit._compiled(self._function, None, {**self._options})
        return self._device_function

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
            f"{self.__name__}: launch configuration was not specified; got a plain call; write "
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
        if ntasks < 0:
            raise ValueError(
                f"{self.__name__}: Can't create ForAll with negative task count: {ntasks}; give a number of at least 0"
            )
        threads = tpb or max(1, min(256, current_device().max_work_group_size or 256))
        if ntasks == 0:
            return _launch_nothing
        return Launch(self, -(-ntasks // threads), threads, stream, sharedmem)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """The launch ``f[griddim, blockdim, stream, sharedmem]``."""
        return Launch(self, griddim, blockdim, stream, sharedmem)

    def specialize(self, *args):
        """The kernel itself: it is compiled for the types of each call."""
        return self

    @property
    def overloads(self):
        """What is compiled, by argument types: the kernel itself, given signatures first."""
        return dict.fromkeys([*self._given, *self.signatures], self)

    @property
    def cooperative(self):
        """Whether the threads of all blocks meet, as `cuda.cg.this_grid` asks for."""
        return self.spans_the_grid

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """How many blocks a launch may have whose threads all meet.

        Parameters
        ----------
        blockdim : int or tuple of int
        dynsmemsize : int
            Without effect: blocks share no memory then.

        Returns
        -------
        int
        """
        threads = math.prod(sizes(self.__name__, blockdim, "threads"))
        return (current_device().max_work_group_size or 1024) // threads

    def get_max_threads_per_block(self, signature=None):
        """Threads that a block has at most on the current device; without a signature by each compiled one."""
        most = current_device().max_work_group_size or 1024
        return self._told("most_items", signature, most)

    def get_regs_per_thread(self, signature=None):
        """Registers of a thread: of the machine code on the CPU and on CUDA devices, 0 where the device does not tell."""
        return self._told("registers", signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory on CUDA devices; 0 on others."""
        return self._told("constant_bytes", signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of the arrays that a block shares."""
        return self._told("shared_bytes", signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of the arrays of a thread."""
        return self._told("local_bytes", signature)

    def _told(self, name, signature, otherwise=0):
        """Of a signature that was compiled: of what is one of Numba's, the most of all; without one by signature, and of
        a kernel with one given signature of that one."""
        if self._given and not self._variants:
            self._kernel(current_device().name, 0)._compile_signatures()
        versions = [v for k in self._variants.values() for v in k._remarks()]
        found = {v["signature"]: v["resources"][name] or otherwise for v in versions}
        if signature is None and len(self._given) != 1:
            return found
        return found.get(signature, max(found.values(), default=otherwise))

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


class DriverError(RuntimeError):
    """What CUDA's driver refuses."""


class LaunchError(DriverError, ValueError):
    """A launch of no blocks or no threads."""


_NUMBAS = {"blocks": "griddim", "threads": "blockdim"}


def sizes(kernel, value, what):
    """One to three numbers of blocks, or of threads, as a tuple of three."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(given) <= 3:
        raise ValueError(
            f"{kernel}: {_NUMBAS[what]} must be a sequence of 1, 2 or 3 integers, got {list(given)}; give an int or a "
            f"tuple of up to three"
        )
    try:
        given = tuple(operator.index(n) for n in given)
    except TypeError:
        raise TypeError(
            f"{kernel}: {_NUMBAS[what]} must be a sequence of integers, got {list(given)!r}; use // to divide sizes"
        ) from None
    if min(given) < 1:
        raise LaunchError(
            f"{kernel}: {what} are positive; got {value!r}; give a number of at least 1 for each axis "
            f"(CUDA_ERROR_INVALID_VALUE)"
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
        if not self._kernel.extensions:
            return self._launch(args)
        behind, given = (
            [],
            [],
        )  # what extensions leave to do, and what they make of the arguments, the last one first
        for value in args:
            kind = None
            for extension in reversed(self._kernel.extensions):
                kind, value = extension.prepare_args(kind, value, stream=self._stream, retr=behind)
            given.append(value)
        self._launch(given)
        for done in behind:
            done()

    def _launch(self, args):
        args = tuple(_handled(a) if isinstance(a, ArgumentHandler) else a for a in args)
        try:
            self._launch_on(args)
        except TypeError:
            taken = tuple(map(_taken, args))
            if all(a is made for a, made in zip(args, taken, strict=True)):
                raise
            self._launch_on(taken)
            for a, made in zip(args, taken, strict=True):
                if made is not a and not isinstance(made, _engine._Array) and a.flags.writeable:
                    a[...] = made

    def _launch_on(self, args):
        device = _device_of(args) or current_device().name
        spans_the_grid = self._kernel.spans_the_grid
        threads = self._threads if spans_the_grid else None
        kernel = self._kernel._kernel(device, self._shared, threads)
        over, local = ranges(kernel.axes, self._blocks, self._threads)
        if spans_the_grid:
            local = over
        if not self._stream:
            kernel._launch(over, local, args, {})
            return
        with self._stream.statements():
            kernel._launch(over, local, args, {})


def _launch_nothing(*args):
    """A launch over no tasks."""


def _handled(given):
    """What a launch takes for `In`, `Out` and `InOut`: it copies arrays of the host there and back."""
    array = given.array
    if given.copies_out or _device_of([array]) is not None:
        return array
    return array.copy()


def _taken(a):
    """What a kernel takes: a copy of a NumPy array at odd addresses, an array of another library's memory, else itself."""
    if isinstance(a, _engine._Array):
        return a
    if hasattr(a, "__cuda_array_interface__"):
        from .interop import as_cuda_array

        return as_cuda_array(a)
    return a if getattr(getattr(a, "flags", None), "aligned", True) else a.copy()


def _device_of(args):
    for a in args:
        if isinstance(a, _engine._Array) and a.device.name != "cpu":
            return a.device.name
    return None


_DEPRECATED = {"argtypes", "restype", "bind"}
_NO_EFFECT = {"lineinfo", "max_registers", "abi", "abi_info", "lto"}
_OF_THE_HOST = {
    "target",
    "parallel",
    "nogil",
    "forceobj",
    "looplift",
    "pipeline_class",
    "target_backend",
}


def _check(options):
    """Drops keywords without effect; refuses those of Numba's that its CUDA target does not have."""
    for name in _NO_EFFECT & options.keys():
        del options[name]
    for name in sorted(options.keys() & (_DEPRECATED | _OF_THE_HOST)):
        way_out = "give the signature as first argument" if name in _DEPRECATED else "leave it out"
        raise TypeError(
            f"cuda.jit: kernels have no keyword '{name}'; got {name}={options[name]!r}; {way_out}"
        )


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
    extensions : list, optional
        Objects whose ``prepare_args(type, value, stream=, retr=)`` makes of each argument what the kernel takes; what it
        appends to `retr` is called behind the launch. `type` is None.
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

    extensions = options.pop("extensions", None) or ()
    if not isinstance(extensions, (list, tuple)) or not all(
        hasattr(e, "prepare_args") for e in extensions
    ):
        raise TypeError(
            f"cuda.jit: extensions is a list of objects with prepare_args(type, value, stream=, retr=); got {extensions!r}; "
            f"give such objects"
        )
    _check(options)
    settings = checked({**options, **({"link": link} if link else {})}, "cuda.jit")
    given, keys = None, ()
    if func_or_sig is not None and is_signature(func_or_sig):
        all_given = func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]
        keys = [getattr(s, "args", s) for s in all_given]
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
        options = {**settings, **({"signatures": given} if given else {})}
        return Kernel(function, options, extensions, keys)

    return decorated if func_or_sig is None else decorated(func_or_sig)
