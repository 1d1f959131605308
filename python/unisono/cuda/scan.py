"""``pycuda.scan``: inclusive and exclusive scans by a C expression."""

from __future__ import annotations

import numpy as np

from . import gpuarray
from ._allocations import flat_of
from ._functions import SourceModule
from .tools import dtype_to_ctype

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]

_THREADS = 1024  # which each scan one piece; so the order of operations follows from the size alone
_BLOCK = 64


class _ScanKernel:
    """Scans by a C expression of ``a`` and ``b``.

    Parameters
    ----------
    dtype : dtype
    scan_expr : str
        Associative.
    neutral : str, optional
        C text of what changes nothing; exclusive scans need it.
    name_prefix : str
    options : list of str
    preamble : str
    devices : optional
        Without effect.

    Examples
    --------
    >>> from unisono.cuda import gpuarray
    >>> from unisono.cuda.scan import InclusiveScanKernel
    >>> x = gpuarray.arange(5, dtype="int32")
    >>> InclusiveScanKernel("int32", "a + b")(x).get().tolist()
    [0, 1, 3, 6, 10]
    """

    _is_exclusive = False

    def __init__(
        self, dtype, scan_expr, neutral=None, name_prefix="scan", options=(), preamble="", devices=None
    ):  # fmt: skip
        if self._is_exclusive and neutral is None:
            raise ValueError(
                "ExclusiveScanKernel: the neutral element is missing; got None; give it, as '0' of sums"
            )
        self.dtype = np.dtype(dtype)
        kind = dtype_to_ctype(self.dtype)
        body = (
            f"{{ {kind} x = source[i]; target[i] = a; b = x; a = {scan_expr}; }}" if self._is_exclusive
            else "{ b = source[i]; a = is_first ? b : EXPR; is_first = false; target[i] = a; }".replace("EXPR", f"({scan_expr})")
        )  # fmt: skip
        start = neutral if neutral is not None else "0"
        self._text = f"""{preamble}
extern "C" __global__ void {name_prefix}_pieces(const {kind} *source, {kind} *sums, long n, long piece)
{{
    long k = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long begin = k * piece, end = begin + piece < n ? begin + piece : n;
    if (begin < n)
    {{
        {kind} a = source[begin], b = a;
        for (long i = begin + 1; i < end; i++) {{ b = source[i]; a = {scan_expr}; }}
        sums[k] = a;
    }}
}}
extern "C" __global__ void {name_prefix}_sums({kind} *sums, long pieces)
{{
    {kind} a = sums[0], b = a;
    for (long i = 1; i < pieces; i++) {{ b = sums[i]; a = {scan_expr}; sums[i] = a; }}
}}
extern "C" __global__ void {name_prefix}_final(const {kind} *source, const {kind} *sums, {kind} *target, long n, long piece)
{{
    long k = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long begin = k * piece, end = begin + piece < n ? begin + piece : n;
    if (begin < n)
    {{
        bool is_first = k == 0;
        {kind} a = {start}, b = a;
        if (k > 0) a = sums[k - 1];
        for (long i = begin; i < end; i++) {body}
    }}
}}
"""
        self._name, self._options, self._functions = name_prefix, options, None

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None):
        """The scan.

        Parameters
        ----------
        input_ary : GPUArray
            One-dimensional, of the kernel's dtype.
        output_ary : GPUArray or "new", optional
            By default the input is overwritten.
        stream : Stream, optional

        Returns
        -------
        GPUArray
        """
        if input_ary.dtype != self.dtype or input_ary.ndim != 1:
            raise TypeError(
                f"{self._name}: the kernel scans one axis of {self.dtype}; got {input_ary.dtype} of {input_ary.ndim} axes; "
                f"convert it"
            )
        if output_ary is None:
            output_ary = input_ary
        elif isinstance(output_ary, str):
            output_ary = gpuarray.empty_like(input_ary)
        if tuple(output_ary.shape) != tuple(input_ary.shape):
            raise ValueError(
                f"{self._name}: the shapes differ; got {tuple(input_ary.shape)} and {tuple(output_ary.shape)}; pass 'new'"
            )
        n = input_ary.size
        if not n:
            return output_ary
        if self._functions is None:
            module = SourceModule(self._text, options=self._options)
            self._functions = [
                module.get_function(f"{self._name}_{w}") for w in ("pieces", "sums", "final")
            ]
        piece = -(-n // _THREADS) if n > 4 * _THREADS else max(4, -(-n // 64))
        pieces = -(-n // piece)
        grid, block = (-(-pieces // _BLOCK), 1), (_BLOCK, 1, 1)
        sums = gpuarray.empty(pieces, self.dtype)
        first, between, last = self._functions
        source, size, step = flat_of(input_ary), np.int64(n), np.int64(piece)
        first(source, sums, size, step, grid=grid, block=block, stream=stream)
        between(sums, np.int64(pieces), grid=(1, 1), block=(1, 1, 1), stream=stream)
        target = flat_of(output_ary)
        last(source, sums, target, size, step, grid=grid, block=block, stream=stream)
        return output_ary


class InclusiveScanKernel(_ScanKernel):
    __doc__ = _ScanKernel.__doc__


class ExclusiveScanKernel(_ScanKernel):
    __doc__ = (_ScanKernel.__doc__ or "").replace(
        'InclusiveScanKernel("int32", "a + b")', 'ExclusiveScanKernel("int32", "a + b", "0")'
    ).replace("InclusiveScanKernel", "ExclusiveScanKernel").replace("[0, 1, 3, 6, 10]", "[0, 0, 1, 3, 6]")  # fmt: skip

    _is_exclusive = True
