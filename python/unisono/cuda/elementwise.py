"""``pycuda.elementwise``: a C statement for each element."""

from __future__ import annotations

import numpy as np

from ._allocations import flat_of
from ._functions import SourceModule
from .tools import ScalarArg, VectorArg, arguments_of

__all__ = ["ElementwiseKernel", "get_elwise_kernel", "get_elwise_module"]

_BLOCK = 256
_range = range  # which is the name of a parameter below


def get_elwise_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
):  # fmt: skip
    """A `SourceModule` with a kernel that does `operation` for each ``i`` below its last argument, ``n``."""
    arguments = ", ".join(a.declarator() for a in arguments_of(arguments))
    return SourceModule(
        f"""{preamble}
extern "C" __global__ void {name}({arguments})
{{
    long tid = threadIdx.x;
    long total_threads = gridDim.x * blockDim.x;
    long cta_start = (long)blockDim.x * blockIdx.x;
    {loop_prep};
    for (long i = cta_start + tid; i < n; i += total_threads)
    {{
        {operation};
    }}
    {after_loop};
}}
""",
        options=options,
    )


def get_elwise_kernel(arguments, operation, name="kernel", keep=False, options=None, **texts):
    """The prepared `Function` of a kernel; the number of elements is its last argument."""
    arguments = [*arguments_of(arguments), ScalarArg(np.int64, "n")]
    made = get_elwise_module(arguments, operation, name, keep, options, **texts).get_function(name)
    return made.prepare([None if isinstance(a, VectorArg) else a.dtype for a in arguments])


class ElementwiseKernel:
    """Runs a C statement for each index ``i`` of arrays.

    Parameters
    ----------
    arguments : str or list of Argument
        C declarators, as ``"float a, float *x, float *y"``.
    operation : str
        The statement; several have semicolons between.
    name : str
    keep : bool, optional
        Without effect.
    options : list of str
        As of `SourceModule`.
    preamble, loop_prep, after_loop : str
        C text in front of the kernel, in front of its loop, and behind it.

    Raises
    ------
    CompileError
        At the first call: an error of the text.
    TypeError
        At a call: arguments that do not fit.

    Examples
    --------
    >>> from unisono.cuda import gpuarray
    >>> from unisono.cuda.elementwise import ElementwiseKernel
    >>> x = gpuarray.arange(4, dtype="float32")
    >>> y = gpuarray.empty_like(x)
    >>> axpb = ElementwiseKernel("float a, float *x, float *y", "y[i] = a * x[i] + 1", "axpb")
    >>> axpb(3, x, y)
    >>> y.get().tolist()
    [1.0, 4.0, 7.0, 10.0]
    """

    def __init__(self, arguments, operation, name="kernel", keep=False, options=None, **texts):
        unknown = set(texts) - {"preamble", "loop_prep", "after_loop"}
        if unknown:
            raise TypeError(
                f"ElementwiseKernel: unknown options; got {sorted(unknown)}; expected preamble, loop_prep, after_loop"
            )
        self.name, self.operation, self.arguments = name, operation, arguments_of(arguments)
        if not any(isinstance(a, VectorArg) for a in self.arguments):
            raise TypeError(
                f"{name}: a kernel needs an array; got {self.arguments}; declare one, as 'float *x'"
            )
        self._options, self._texts, self._kernels = options, texts, {}

    def _function(self, with_range):
        made = self._kernels.get(with_range)
        if made is None:
            operation, sizes, texts = self.operation, [ScalarArg(np.int64, "n")], dict(self._texts)
            if with_range:  # i stands for the index of a range
                sizes += [
                    ScalarArg(np.int64, "start_of_range"),
                    ScalarArg(np.int64, "step_of_range"),
                ]
                operation = f"long k_of_range = i; {{ long i = start_of_range + k_of_range * step_of_range; {operation}; }}"
            module = get_elwise_module(
                [*self.arguments, *sizes], operation, self.name, options=self._options, **texts
            )
            made = self._kernels[with_range] = module.get_function(self.name)
        return made

    def __call__(self, *args, range=None, slice=None, stream=None):
        """Run it.

        Parameters
        ----------
        *args
            Arrays of `gpuarray` and numbers.
        range, slice : slice, optional
            Indices, instead of all; `slice` counts negative ones from the end.
        stream : Stream, optional
        """
        if len(args) != len(self.arguments):
            raise TypeError(
                f"{self.name}: takes {len(self.arguments)} arguments; got {len(args)}; give "
                f"{', '.join(a.declarator() for a in self.arguments)}"
            )
        if range is not None and slice is not None:
            raise TypeError(f"{self.name}: expected range or slice; got both; give one")
        given, size = passed(self.name, self.arguments, args)
        sizes = (size,)
        if slice is not None:
            range = _slice(*slice.indices(size))
        if range is not None:
            indices = _range(range.start or 0, range.stop, range.step or 1)
            size = len(indices)
            sizes = size, indices.start, indices.step
        if size:
            function = self._function(range is not None)
            function(
                *given,
                *map(np.int64, sizes),
                grid=(-(-size // _BLOCK), 1),
                block=(_BLOCK, 1, 1),
                stream=stream,
            )


_slice = slice


def passed(name, arguments, args):
    """What a kernel is given for its declared arguments, and the size of the first array."""
    given, size = [], None
    for a, value in zip(arguments, args, strict=True):
        if isinstance(a, ScalarArg):
            try:
                given.append(
                    a.dtype.type(value if np.ndim(value) == 0 else _no_number(name, a, value))
                )
            except (TypeError, ValueError):
                _no_number(name, a, value)
            continue
        if not hasattr(value, "flags") or not hasattr(value, "dtype"):
            raise TypeError(
                f"{name}: '{a.name}' is an array; got {type(value).__name__}; copy it with gpuarray.to_gpu"
            )
        size = value.size if size is None else size
        given.append(value if isinstance(value, np.ndarray) else flat_of(value))
    return given, size


def _no_number(name, a, value):
    raise TypeError(f"{name}: '{a.name}' is a number; got {type(value).__name__}; give a {a.dtype}")
