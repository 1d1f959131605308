"""``pycuda.reduction``: elements mapped by a C expression and combined by another one."""

from __future__ import annotations

import numpy as np

from . import gpuarray
from ._functions import SourceModule
from .elementwise import passed
from .tools import VectorArg, arguments_of, dtype_to_ctype

__all__ = ["ReductionKernel"]

_BLOCK = 256
_MOST = 64


def _text(name, kind, neutral, reduce_expr, map_expr, arguments, preamble):
    """One kernel that gives a number for each block; the order follows from the size and the grid alone."""
    return f"""{preamble}
extern "C" __global__ void {name}({arguments}, {kind} *out_of_blocks, long n_of_elements)
{{
    __shared__ {kind} part_of_block[{_BLOCK}];
    {kind} acc = {neutral};
    for (long i = (long)blockIdx.x * {_BLOCK} + threadIdx.x; i < n_of_elements; i += (long)gridDim.x * {_BLOCK})
    {{
        {kind} a = acc, b = {map_expr};
        acc = {reduce_expr};
    }}
    part_of_block[threadIdx.x] = acc;
    __syncthreads();
    for (int half = {_BLOCK // 2}; half > 0; half >>= 1)
    {{
        if (threadIdx.x < half)
        {{
            {kind} a = part_of_block[threadIdx.x], b = part_of_block[threadIdx.x + half];
            part_of_block[threadIdx.x] = {reduce_expr};
        }}
        __syncthreads();
    }}
    if (threadIdx.x == 0) out_of_blocks[blockIdx.x] = part_of_block[0];
}}
"""


class ReductionKernel:
    """Combines ``map_expr`` of all indices ``i`` by ``reduce_expr`` of ``a`` and ``b``.

    Parameters
    ----------
    dtype_out : dtype
    neutral : str
        C text of what changes nothing.
    reduce_expr : str
    map_expr : str, optional
        By default ``x[i]`` of the only array ``x``.
    arguments : str or list of Argument
    name : str
    keep : bool, optional
        Without effect.
    options : list of str
    preamble : str

    Raises
    ------
    CompileError
        At the first call: an error of the text.

    Examples
    --------
    >>> from unisono.cuda import gpuarray
    >>> from unisono.cuda.reduction import ReductionKernel
    >>> x = gpuarray.arange(4, dtype="float32")
    >>> squares = ReductionKernel(
    ...     "float32",
    ...     neutral="0",
    ...     reduce_expr="a + b",
    ...     map_expr="x[i] * x[i]",
    ...     arguments="float *x",
    ... )
    >>> squares(x).get().tolist()
    14.0
    """

    def __init__(
        self, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
        options=None, preamble="",
    ):  # fmt: skip
        self.dtype_out, self.name = np.dtype(dtype_out), name
        kind = dtype_to_ctype(self.dtype_out)
        self.arguments = arguments_of(arguments if arguments is not None else f"const {kind} *x")
        vectors = [a for a in self.arguments if isinstance(a, VectorArg)]
        if not vectors:
            raise TypeError(
                f"{name}: a kernel needs an array; got {self.arguments}; declare one, as 'float *x'"
            )
        if map_expr is None:
            if len(vectors) != 1:
                raise TypeError(
                    f"{name}: map_expr is missing; got {len(vectors)} arrays; say what is combined"
                )
            map_expr = f"{vectors[0].name}[i]"
        declared = ", ".join(a.declarator() for a in self.arguments)
        self._texts = (
            _text(name, kind, neutral, reduce_expr, map_expr, declared, preamble),
            _text(
                f"{name}_last",
                kind,
                neutral,
                reduce_expr,
                "parts_in[i]",
                f"{kind} *parts_in",
                preamble,
            ),
        )
        self._options, self._functions = options, None

    def __call__(self, *args, stream=None, out=None, allocator=None):
        """The result, an array without axes.

        Parameters
        ----------
        *args
            Arrays of `gpuarray` and numbers.
        stream : Stream, optional
        out : GPUArray, optional
            It gets the result.
        """
        if len(args) != len(self.arguments):
            raise TypeError(
                f"{self.name}: takes {len(self.arguments)} arguments; got {len(args)}; give "
                f"{', '.join(a.declarator() for a in self.arguments)}"
            )
        if self._functions is None:
            first, last = (SourceModule(t, options=self._options) for t in self._texts)
            self._functions = first.get_function(self.name), last.get_function(f"{self.name}_last")
        given, size = passed(self.name, self.arguments, args)
        blocks = max(1, min(_MOST, -(-size // (4 * _BLOCK))))
        parts = gpuarray.empty(blocks, self.dtype_out)
        first, last = self._functions
        block = (_BLOCK, 1, 1)
        first(*given, parts, np.int64(size), grid=(blocks, 1), block=block, stream=stream)
        if blocks > 1:
            whole = gpuarray.empty(1, self.dtype_out)
            last(parts, whole, np.int64(blocks), grid=(1, 1), block=block, stream=stream)
            parts = whole
        result = parts.reshape(())
        if out is None:
            return result
        out[...] = result
        return out
