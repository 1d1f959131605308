"""``ReductionKernel`` with CuPy's signature: two raw kernels, which combine parts, and then their results."""

from __future__ import annotations

import numpy as np

from .arguments import place_of
from .kernels import RawModule
from .typed import BLOCK, C_NAMES, Typed, laid_out, readable, typedefs


class ReductionKernel(Typed):
    """A kernel that combines what C text makes of each element.

    Parameters
    ----------
    in_params, out_params : str
        As of `ElementwiseKernel`; one result.
    map_expr : str
        C expression of an element.
    reduce_expr : str
        C expression of two of these, ``a`` and ``b``; associative.
    post_map_expr : str
        C text that assigns the result from ``a``.
    identity : str or number
        What changes nothing when it is combined.
    name : str
    reduce_type : str, optional
        C type of what is combined; by default that of the result.
    reduce_dims, preamble, options : optional
        As of `ElementwiseKernel`.

    Raises
    ------
    ValueError
        For parameters that cannot be read, or without an identity.
    TypeError, CompileError
        At a call, as of `ElementwiseKernel`.

    Notes
    -----
    The order in which elements are combined follows from the shape alone: results are the same on all devices.

    Examples
    --------
    >>> import unisono as un
    >>> norm = un.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(un.asarray([3.0, 4.0]))
    array(5.)
    """

    def __init__(
        self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity=None, name="reduce_kernel",
        reduce_type=None, reduce_dims=True, preamble="", options=(), **ignored,
    ):  # fmt: skip
        self._begin(in_params, out_params, name, preamble, options)
        if len(self._out) != 1 or any(p.is_raw for p in self._out):
            raise ValueError(
                f"{name}: a reduction has one result; got {out_params!r}; write one parameter"
            )
        if identity in (None, ""):
            raise ValueError(
                f"{name}: a reduction needs its identity; got {identity!r}; give what changes nothing, as '0' of a sum"
            )
        self._map, self._reduce, self._post = map_expr, reduce_expr, post_map_expr
        self._identity, self._type = identity, reduce_type

    @property
    def cached_codes(self):
        """The C texts made so far, by dtypes."""
        return {key: first.code for key, (first, *_) in self._texts.items()}

    def _text(self, letters, types):
        out = self._out[0]
        kind = self._type or C_NAMES[types[-1]]
        arguments, first = [], []
        for p, dtype in zip(self._in, types, strict=False):
            c = C_NAMES[dtype]
            if p.is_raw:
                arguments.append(f"const {c}* {p.name}")
            else:
                arguments.append(f"const {c}* {p.name}_of, long long {p.name}_by")
                first.append(f"{c} {p.name} = {p.name}_of[i * {p.name}_by];")
        combine = f"    partial_of[threadIdx.x] = result;\n    __syncthreads();\n    for (int half = {BLOCK // 2}; half > 0; half >>= 1) {{\n"
        combine += f"        if (threadIdx.x < half) {{ {kind} a = partial_of[threadIdx.x], b = partial_of[threadIdx.x + half]; partial_of[threadIdx.x] = {self._reduce}; }}\n        __syncthreads();\n    }}\n"
        head = f"    __shared__ {kind} partial_of[{BLOCK}];\n    long long row = blockIdx.x / parts, part = blockIdx.x % parts;\n    {kind} result = {self._identity};\n"
        each = f"    for (long long k = part * {BLOCK} + threadIdx.x; k < columns; k += (long long)parts * {BLOCK}) {{\n        long long i = row * columns + k;\n"
        return (
            f"{typedefs(letters)}{self.preamble}\n"
            f'extern "C" __global__ void {self.name}_parts({", ".join(arguments)}, {kind}* parts_of, long long columns, int parts) {{\n'
            f"{head}{each}        {' '.join(first)}\n        {kind} a = result, b = {self._map};\n        result = {self._reduce};\n    }}\n"
            f"{combine}    if (threadIdx.x == 0) parts_of[blockIdx.x] = partial_of[0];\n}}\n"
            f'extern "C" __global__ void {self.name}_last(const {kind}* parts_of, {C_NAMES[types[-1]]}* {out.name}_of, long long columns, int parts) {{\n'
            f"{head}{each}        {kind} a = result, b = parts_of[i];\n        result = {self._reduce};\n    }}\n"
            f"{combine}    if (threadIdx.x == 0) {{\n        {kind} a = partial_of[0];\n        {C_NAMES[types[-1]]} {out.name} = 0;\n"
            f"        {self._post};\n        {out.name}_of[row] = {out.name};\n    }}\n}}\n"
        )

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        """Combine the elements.

        Parameters
        ----------
        *args : array or number
        out : ndarray, optional
        axis : int or tuple of int, optional
            By default all.
        keepdims : bool

        Returns
        -------
        ndarray
        """
        import unisono as un

        if len(args) not in (len(self._in), len(self._in) + 1):
            self._wrong_count(args)
        if len(args) > len(self._in):
            out, args = args[-1], args[:-1]
        args = tuple(map(readable, args))
        device = place_of(args)
        letters = self._bound((*args, *([] if out is None else [out])))
        types = self._types(letters)
        shapes = [
            tuple(a.shape) for p, a in zip(self._in, args, strict=True) if not p.is_raw and hasattr(a, "shape")
        ]  # fmt: skip
        shape = np.broadcast_shapes(*shapes) if shapes else ()
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(
            sorted(
                int(x) % len(shape) if -len(shape) <= x < len(shape) else _no(self.name, x, shape)
                for x in axes
            )
        )
        kept = [k for k in range(len(shape)) if k not in axes]
        rows = int(np.prod([shape[k] for k in kept], dtype=np.int64))
        columns = int(np.prod([shape[k] for k in axes], dtype=np.int64))
        given = []
        for p, dtype, a in zip(self._in, types, args, strict=False):
            if p.is_raw or np.size(a) == 1:
                made = laid_out(a, dtype, None, device)
            else:
                made = laid_out(
                    laid_out(a, dtype, shape, device).transpose(*kept, *axes), dtype, None, device
                )
            given.append(made.reshape(-1))
            if not p.is_raw:
                given.append(0 if np.size(a) == 1 else 1)
        final = (
            [1 if k in axes else n for k, n in enumerate(shape)]
            if keepdims
            else [shape[k] for k in kept]
        )
        result = un.zeros(tuple(final), types[-1], device=device)
        if types not in self._texts:
            module = RawModule(code=self._text(letters, types), options=self.options)
            first, last = (module.get_function(f"{self.name}_{w}") for w in ("parts", "last"))
            self._texts[types] = first, last, last._function().parameters[0][0].base
        first, last, kind = self._texts[types]
        if rows:
            parts = max(1, min(64, columns // (4 * BLOCK)))
            between = un.empty(rows * parts, kind, device=device)
            first(rows * parts, BLOCK, (*given, between, columns, parts), stream=stream)
            last(rows, BLOCK, (between, result.reshape(-1), parts, 1), stream=stream)
        if out is None:
            return result
        out[...] = result
        return out


def _no(name, axis, shape):
    raise ValueError(
        f"{name}: axis {axis} is out of range; got an array of {len(shape)} axes; give one of them"
    )
