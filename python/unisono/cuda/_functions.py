"""Modules and functions of CUDA C text with PyCUDA's calls, over `unisono.RawModule`."""

from __future__ import annotations

import time
import weakref

import numpy as np

from .. import _engine
from .._engine import CompileError
from .._raw.arguments import is_packed
from .._raw.kernels import RawModule
from ._allocations import (
    DeviceAllocation,
    LogicError,
    block_of,
    found,
    host_bytes,
    memory_device,
    on_stream,
)
from ._arguments import ArgumentHandler, InOut
from .devices import current_device, pinned_array
from .launches import LaunchError

_managed = weakref.WeakValueDictionary()  # memory that host and device share, by the host's address


class Function:
    """A kernel of a `SourceModule`, called as ``f(*args, block=(32, 1, 1), grid=(1, 1), shared=0, stream=None)``.

    Pointers take a `DeviceAllocation`, an array of `gpuarray`, an address, or `In`, `Out`, `InOut` of an array of the
    host; numbers are NumPy's, of the declared size (``np.int32(n)``).

    Attributes
    ----------
    max_threads_per_block, shared_size_bytes, local_size_bytes, const_size_bytes, num_regs : int
        As of `RawKernel`.
    """

    local_size_bytes = property(lambda self: self._kernel.local_size_bytes)
    const_size_bytes = property(lambda self: self._kernel.const_size_bytes)
    shared_size_bytes = property(lambda self: self._kernel.shared_size_bytes)
    num_regs = property(lambda self: self._kernel.num_regs)

    def __init__(self, kernel):
        self._kernel = kernel
        self._parameters = None
        self._formats = None

    @property
    def name(self):
        """Of the kernel."""
        return self._kernel.name

    @property
    def max_threads_per_block(self):
        """Limit of the current device."""
        return current_device().max_work_group_size or 1024

    def set_cache_config(self, config):
        """Without effect."""

    set_shared_config = set_cache_config

    def get_attribute(self, attribute):
        """What a name of `function_attribute` tells."""
        return getattr(self, str(attribute).lower())

    def _declared(self):
        if self._parameters is None:
            self._parameters = [(name, c) for c, name, *_ in self._kernel._function().parameters]
        return self._parameters

    def __call__(
        self, *args, block=None, grid=(1, 1), stream=None, shared=0, texrefs=(), time_kernel=False, **unknown
    ):  # fmt: skip
        """Launch it.

        Parameters
        ----------
        *args
            As the text declares them.
        block : tuple of int
            Threads of a block, along up to three axes.
        grid : tuple of int
            Blocks.
        stream : Stream, optional
            By default the launch is ordered by the memory that it uses.
        shared : int
            Bytes of the ``extern __shared__`` array.
        texrefs : sequence of TextureReference
            Without effect: kernels read those of their text.
        time_kernel : bool
            Wait, and return the seconds that it took.

        Raises
        ------
        TypeError
            An argument does not fit what the text declares.
        LogicError
            Memory that was freed, or that lies nowhere; sizes that are none.
        ValueError
            Without a block.
        """
        if unknown:
            raise ValueError(
                f"{self.name}: unknown options; got {', '.join(unknown)}; expected block, grid, stream, shared, time_kernel"
            )
        if block is None:
            raise ValueError(
                f"{self.name}: the size of a block is missing; got none; give block=(32, 1, 1)"
            )
        declared = self._declared()
        if len(args) != len(declared):
            raise TypeError(
                f"{self.name}: the kernel takes {len(declared)} arguments; got {len(args)}; give "
                f"{', '.join(f'{c}{n}' if c.is_pointer else f'{c} {n}' for n, c in declared)}"
            )
        after = []
        with on_stream(stream):
            given = tuple(
                self._pointer(k, name, c, a, after) if c.is_pointer else self._number(k, name, c, a)
                for k, ((name, c), a) in enumerate(zip(declared, args, strict=True))
            )
        begin = self._now() if time_kernel else None
        try:
            self._kernel(
                _axes(grid), _axes(block), given, shared_mem=shared or 0, stream=stream or None
            )
        except LaunchError as error:
            raise LogicError(str(error)) from None
        took = None if begin is None else self._now() - begin
        for filled, memory in after:
            filled[...] = memory
        return took

    def _now(self):
        from ._contexts import synchronize

        synchronize()
        return time.perf_counter()

    def _pointer(self, k, name, c, a, after):
        if isinstance(a, ArgumentHandler):
            return self._copied(k, name, c, a, after)
        if isinstance(a, _engine._Array):
            if a.dtype.name == c.base and is_packed(a):
                return a
            return self._typed(k, name, c, block_of(a), 0, a.dtype)
        if isinstance(a, np.ndarray):
            shared = _managed.get(a.ctypes.data)
            if shared is None:
                raise TypeError(
                    f"{self.name}: argument {k}, '{name}', is a pointer to {c.base}; got an array of the host; write "
                    f"In({name}), Out({name}) or InOut({name}), or copy it with to_device"
                )
            if shared.block is None:
                return self._copied(k, name, c, InOut(a), after)
            return self._typed(k, name, c, shared.block, 0, a.dtype)
        block, offset = found(a, f"{self.name}: argument {k}, '{name}'")
        return self._typed(k, name, c, block, offset, None)

    def _typed(self, k, name, c, block, offset, dtype):
        if c.record:
            memory = block.typed("uint8", offset)
            return memory[: memory.size // c.record.size * c.record.size]
        if dtype is not None and not _may_be(
            np.dtype(str(dtype)) if not isinstance(dtype, np.dtype) else dtype, c.base
        ):
            raise TypeError(
                f"{self.name}: argument {k}, '{name}', is a pointer to {c.base}; got an array of {dtype}; convert it with "
                f"astype('{c.base}')"
            )
        return block.typed(c.base, offset)

    def _copied(self, k, name, c, a, after):
        import unisono as un

        host = host_bytes(a.array, f"{self.name}: {type(a).__name__}", writes=a.copies_out)
        dtype = getattr(a.array, "dtype", None)
        base = "uint8" if c.record else c.base
        step = c.record.size if c.record else np.dtype(base).itemsize
        is_wrong = dtype is not None and not c.record and not _may_be(np.dtype(dtype), base)
        if is_wrong or host.size % step:
            raise TypeError(
                f"{self.name}: argument {k}, '{name}', is a pointer to {c.base}; got {type(a).__name__} of an array of "
                f"{dtype or f'{host.size} bytes'}; convert it with astype('{c.base}')"
            )
        elements = host.view(base) if host.ctypes.data % step == 0 else host.copy().view(base)
        device = memory_device()
        if a.copies_in:
            made = un.array(elements, device=device)
        else:
            made = un.empty(elements.size, base, device=device)
        if a.copies_out:
            after.append((host, made.view("uint8") if base != "bool" else made))
        return made

    def _number(self, k, name, c, a):
        if c.record:
            return a
        if isinstance(a, np.generic) or (isinstance(a, np.ndarray) and a.ndim == 0):
            dtype = a.dtype
            if dtype.itemsize == np.dtype(c.base).itemsize and (
                dtype.kind == "f"
            ) == c.base.startswith("float"):
                return a.astype(c.base) if dtype.kind in "iub" and dtype.name != c.base else a[()]
            raise TypeError(
                f"{self.name}: argument {k}, '{name}', is {c.base}; got {dtype.name}; write np.{c.base}(...)"
            )
        raise TypeError(
            f"{self.name}: argument {k}, '{name}', is {c.base}; got {type(a).__name__}; write np.{c.base}(...): a number "
            f"has the size that the text declares"
        )

    # ---- prepared calls
    def prepare(self, arg_types, shared=None, texrefs=()):
        """Declare the types of arguments, for `prepared_call`, which then takes Python's numbers.

        Parameters
        ----------
        arg_types : str or sequence
            Characters of `struct` (``"PPif"``, P for pointers), or dtypes and ``None`` for pointers.
        texrefs : sequence of TextureReference
            Without effect: kernels read those of their text.
        """
        formats = []
        for t in arg_types:
            if t is None or (isinstance(t, str) and t == "P") or t is np.intp or t is np.uintp:
                formats.append(None)
            else:
                formats.append(
                    np.dtype(
                        {"l": "int64", "L": "uint64", "N": "uint64", "n": "int64"}.get(t, t)
                        if isinstance(t, str)
                        else t
                    )
                )
        if len(formats) != len(self._declared()):
            raise TypeError(
                f"{self.name}: the kernel takes {len(self._declared())} arguments; got {len(formats)} types; give one for each"
            )
        for (name, c), f in zip(self._declared(), formats, strict=True):
            is_fitting = c.is_pointer if f is None else not c.is_pointer or f.itemsize == 8
            if not is_fitting:
                raise TypeError(
                    f"{self.name}: '{name}' is {c}; got the type {'P' if f is None else f.name}; write P for pointers, and "
                    f"the type of numbers"
                )
        self._formats = formats
        return self

    def _prepared(self, args):
        if self._formats is None:
            raise LogicError(
                f"{self.name}: it is not prepared; got a prepared call; call prepare('P...') first"
            )
        if len(args) != len(self._formats):
            raise TypeError(
                f"{self.name}: prepared for {len(self._formats)} arguments; got {len(args)}; give as many"
            )
        return [
            a if f is None or c.is_pointer else f.type(a)
            for a, f, (_, c) in zip(args, self._formats, self._declared(), strict=True)
        ]

    def prepared_call(self, grid, block, *args, shared_size=0):
        """Launch with the arguments of `prepare`."""
        self(*self._prepared(args), grid=grid, block=block, shared=shared_size)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        """`prepared_call` on a stream."""
        self(*self._prepared(args), grid=grid, block=block, stream=stream, shared=shared_size)

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """`prepared_call`; gives a function that returns the seconds that it took."""
        took = self(
            *self._prepared(args), grid=grid, block=block, shared=shared_size, time_kernel=True
        )
        return lambda: took

    def __repr__(self):
        return f"<cuda.Function {self.name}>"


def _axes(sizes):
    return tuple(int(n) for n in sizes) if isinstance(sizes, (tuple, list)) else int(sizes)


def _may_be(dtype, base):
    """Whether elements of a dtype may be read as C's: of one size, or complex numbers and structs as their parts."""
    size = np.dtype(base).itemsize
    return dtype.itemsize == size or (dtype.kind in "cV" and dtype.itemsize % size == 0)


class Module:
    """The kernels of a text; made by `SourceModule`."""

    def __init__(self, module):
        self._module, self._functions, self._variables = module, {}, {}

    def get_function(self, name):
        """A `Function` by its name.

        Raises
        ------
        LogicError
            If the text has no such kernel.
        """
        made = self._functions.get(name)
        if made is None:
            try:
                made = Function(self._module.get_function(name))
            except CompileError as error:
                raise LogicError(f"get_function: {error}") from None
            self._functions[name] = made
        return made

    def get_global(self, name):
        """(address, bytes) of a ``__device__`` or ``__constant__`` variable, for `memcpy_htod` and the like.

        Raises
        ------
        LogicError
            If the text has no such variable.
        """
        key = name, current_device().name
        if key not in self._variables:
            try:
                self._variables[key] = block_of(self._module.get_global(name))
            except ValueError as error:
                raise LogicError(str(error)) from None
        block = self._variables[key]
        return block, block.size

    def get_texref(self, name):
        """The `TextureReference` of a ``texture<...>`` of the text, to bind memory to.

        Raises
        ------
        LogicError
            If the text has no such texture.
        """
        try:
            return self._module._texture_reference(name)
        except ValueError as error:
            raise LogicError(f"get_texref: {error}") from None

    def get_surfref(self, name):
        """There are no surfaces."""
        raise LogicError(
            f"get_surfref: there are no surfaces; got '{name}'; index an array of the device"
        )


class SourceModule(Module):
    """Kernels of CUDA C text, on every device.

    Parameters
    ----------
    source : str
        The text. What it may have is told in ``docs/pycuda.md``.
    options : list of str
        ``-DNAME=value`` defines macros, ``-Ifolder`` is as a folder of `include_dirs`; others are without effect.
    nvcc, keep, no_extern_c, arch, code, cache_dir : optional
        PyCUDA's, without effect.
    include_dirs : sequence of str
        Folders of files that the text includes.

    Raises
    ------
    CompileError
        The text has an error, or a part of CUDA C that is not translated; with its line.

    Examples
    --------
    >>> import numpy as np
    >>> import unisono.cuda.autoinit
    >>> import unisono.cuda.driver as cuda
    >>> from unisono.cuda.compiler import SourceModule
    >>> module = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
    >>> a = np.arange(4, dtype=np.float32)
    >>> module.get_function("twice")(cuda.InOut(a), block=(4, 1, 1))
    >>> a.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """

    def __init__(
        self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None, cache_dir=None,
        include_dirs=(),
    ):  # fmt: skip
        folders = (f"-I{folder}" for folder in include_dirs)
        super().__init__(RawModule(code=source, options=(*(options or ()), *folders)))
        # Kernels are translated now, as PyCUDA compiles them; with arrays that a launch sizes, for some size.
        shared = 1024 if "extern __shared__" in " ".join(source.split()) else 0
        parser = self._module._parsed()
        for name in [n for n, f in parser.unit.functions.items() if f.is_kernel]:
            self._module.get_function(name)._translated(shared)


# ---- memory of the host
def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    """A NumPy array from which and into which asynchronous copies go."""
    return pinned_array(shape, dtype, order=order)


def managed_empty(shape, dtype, order="C", mem_flags=0):
    """A NumPy array that kernels take as it is, in memory that host and device share as far as the device can.

    Wait with ``Context.synchronize()`` before the host uses it behind a launch.
    """
    import unisono as un

    dtype = np.dtype(dtype)
    kept, block = np.empty(shape, dtype, order), None
    try:
        memory = un.zeros(max(kept.nbytes, 1), "uint8", device=memory_device(), memory="shared")
        kept = np.asarray(memory)[: kept.nbytes].view(dtype).reshape(kept.shape, order=order)
        block = DeviceAllocation(memory.size, memory)
    except _engine.DeviceError:  # launches copy it there and back
        pass
    kept = kept.view(_Managed)
    kept.block = block
    _managed[kept.ctypes.data] = kept
    return kept


class _Managed(np.ndarray):
    """Keeps the block of shared memory, or None; behaves as a NumPy array."""

    block = None


def _with_fills(empty, names):
    def zeros(shape, dtype, order="C", mem_flags=0):
        made = empty(shape, dtype, order)
        made.fill(0)
        return made

    def empty_like(array, mem_flags=0):
        return empty(
            array.shape, array.dtype, "F" if array.flags.f_contiguous and array.ndim > 1 else "C"
        )

    def zeros_like(array, mem_flags=0):
        made = empty_like(array)
        made.fill(0)
        return made

    for function, what in (
        (zeros, "zeros"),
        (empty_like, "empty_like"),
        (zeros_like, "zeros_like"),
    ):
        function.__name__ = function.__qualname__ = f"{names}_{what}"
        function.__doc__ = f"As `{names}_empty`, {what.replace('_', ' an array, ').replace('like', 'as another one')}."
    return zeros, empty_like, zeros_like


pagelocked_zeros, pagelocked_empty_like, pagelocked_zeros_like = _with_fills(
    pagelocked_empty, "pagelocked"
)
managed_zeros, managed_empty_like, managed_zeros_like = _with_fills(managed_empty, "managed")


def aligned_empty(shape, dtype, order="C", alignment=4096):
    """A NumPy array whose memory begins at a multiple of `alignment` bytes."""
    made = np.empty(shape, dtype, order)
    bytes_ = np.empty(made.nbytes + alignment, np.uint8)
    skip = -bytes_.ctypes.data % alignment
    return bytes_[skip : skip + made.nbytes].view(made.dtype).reshape(made.shape, order=order)


def register_host_memory(ary, flags=0):
    """The array itself: copies take memory that is not locked, too."""
    return ary
