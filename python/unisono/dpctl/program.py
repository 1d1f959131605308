"""``dpctl.program``: kernels of OpenCL C text, over `unisono.RawModule`; they run on every device."""

from __future__ import annotations

import ctypes

import numpy as np

from .. import _engine
from .._engine import CompileError as SyclProgramCompilationError
from .._raw.kernels import RawModule
from ..cuda._allocations import flat_of
from ._queues import SyclKernelInvalidRangeError, SyclQueue

__all__ = [
    "SyclKernel", "SyclProgram", "SyclProgramCompilationError", "create_program_from_source", "create_program_from_spirv",
]  # fmt: skip


class SyclKernel:
    """A kernel of a SyclProgram, launched by `SyclQueue.submit`."""

    def __init__(self, kernel):
        self._kernel = kernel

    def get_function_name(self):
        """Its name."""
        return self._kernel.name

    def get_num_args(self):
        """How many arguments it takes."""
        return len(self._kernel._function().parameters)

    num_args = property(get_num_args)

    def _launch(self, queue, args, sizes, groups):
        for what, given in (("global", sizes), ("local", groups)):
            if given is not None and (
                not 1 <= len(given) <= 3 or any(int(n) < (what == "local") for n in given)
            ):
                raise SyclKernelInvalidRangeError(
                    f"{self._kernel.name}: a {what} range has one to three axes; got {given}; give positive numbers"
                )
        over = [int(n) for n in sizes]
        local = [1] * len(over) if groups is None else [int(n) for n in groups]
        if groups is None:
            n = over[0]
            local[0] = next(k for k in (64, 32, 16, 8, 4, 2, 1) if n % k == 0)
        if len(local) != len(over) or any(g % n for g, n in zip(over, local, strict=True)):
            raise SyclKernelInvalidRangeError(
                f"{self._kernel.name}: work-groups do not divide the range; got {over} by {local}; round the range up"
            )
        declared = self._kernel._function().parameters
        if len(args) != len(declared):
            raise TypeError(
                f"{self._kernel.name}: the kernel takes {len(declared)} arguments; got {len(args)}; give as many"
            )
        given = [self._argument(c, n, a) for (c, n, *_), a in zip(declared, args, strict=True)]
        grid = tuple(g // n for g, n in zip(over, local, strict=True))
        with queue.statements():
            self._kernel(grid, tuple(local), tuple(given))

    def _argument(self, c, name, a):
        from .memory import _Memory

        if not c.is_pointer:
            if isinstance(a, ctypes._SimpleCData):
                a = a.value
            return np.dtype(c.base).type(a) if isinstance(a, (int, float)) else a
        if isinstance(a, _Memory):
            count = a.nbytes // np.dtype(c.base).itemsize
            return a._bytes[: count * np.dtype(c.base).itemsize].view(c.base)
        if isinstance(a, _engine._Array):
            return flat_of(a)
        raise TypeError(
            f"{self._kernel.name}: '{name}' is a pointer to {c.base}; got {type(a).__name__}; give memory or an array"
        )


class SyclProgram:
    """The kernels of a text; made by `create_program_from_source`."""

    def __init__(self, module):
        self._module = module

    def get_sycl_kernel(self, kernel_name):
        """A SyclKernel by its name."""
        return SyclKernel(self._module.get_function(kernel_name))

    def has_sycl_kernel(self, kernel_name):
        """Whether there is one of that name."""
        found = self._module._parsed().unit.functions.get(kernel_name)
        return found is not None and found.is_kernel


def create_program_from_source(q, src, copts=""):
    """Kernels of OpenCL C (or CUDA C) text.

    Parameters
    ----------
    q : SyclQueue
    src : str
    copts : str
        ``-DNAME=value`` defines macros; others are without effect.

    Returns
    -------
    SyclProgram

    Raises
    ------
    SyclProgramCompilationError
        The text has an error, or a part of C that is not translated; with its line.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import dpctl
    >>> import unisono.dpctl.program, unisono.dpctl.tensor as dpt
    >>> q = dpctl.SyclQueue()
    >>> text = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }"
    >>> twice = dpctl.program.create_program_from_source(q, text).get_sycl_kernel("twice")
    >>> x = dpt.arange(4, dtype="int32", sycl_queue=q)
    >>> q.submit(twice, [x], [4]).wait()
    >>> x.tolist()
    [0, 2, 4, 6]
    """
    if not isinstance(q, SyclQueue):
        raise TypeError(f"create_program_from_source: expected a SyclQueue; got {type(q).__name__}")
    module = RawModule(code=src, options=tuple(copts.split()))
    module._parsed()
    return SyclProgram(module)


create_kernel_bundle_from_source = create_program_from_source


def create_program_from_spirv(q, IL, copts=""):
    """SPIR-V is not read.

    Raises
    ------
    SyclProgramCompilationError
        Always.
    """
    raise SyclProgramCompilationError(
        f"create_program_from_spirv: SPIR-V is not read; got {len(IL)} bytes; give the text to create_program_from_source"
    )
