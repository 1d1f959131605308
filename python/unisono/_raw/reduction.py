"""``ReductionKernel`` with CuPy's signature: a raw kernel that combines rows, and for long ones one of their parts."""

from __future__ import annotations

import numpy as np

from .arguments import place_of
from .kernels import RawKernel
from .typed import BLOCK, C_NAMES, Typed, laid_out, readable, typedefs

WARP = 32
MOST_ALONE, MOST_OF_A_WARP = 64, 1024  # columns of a row for one work-item, and for a warp of them
MOST_PARTS, MOST_BLOCKS = 64, 1024  # of a row, each of which takes a block; of all rows


def _width_of(columns):
    """How many work-items combine a row: blocks of `BLOCK` of them take as many rows as they have place for."""
    if columns <= MOST_ALONE:
        return 1
    return WARP if columns <= MOST_OF_A_WARP else BLOCK


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
        """The C texts made so far, by dtypes; of rows in parts that of the parts."""
        return {types: k.code for (types, stage, _), k in self._texts.items() if stage != "last"}

    def _kernel(self, letters, types, stage, width):
        """What combines rows, ``width`` work-items each: as a whole, to parts of them, or from these at last."""
        made = self._texts.get((types, stage, width))
        if made is None:
            text = self._text(letters, types, stage, width)
            made = self._texts[types, stage, width] = RawKernel(text, self.name, self.options)
        return made

    def _text(self, letters, types, stage, width):
        out = self._out[0]
        dtype = C_NAMES[types[-1]]
        kind = self._type or dtype
        arguments, first = [], []
        for p, of_argument in zip(self._in, types, strict=False):
            c = C_NAMES[of_argument]
            if p.is_raw:
                arguments.append(f"const {c}* {p.name}")
            else:
                arguments.append(f"const {c}* {p.name}_of, long long {p.name}_by")
                first.append(f"{c} {p.name} = {p.name}_of[i * {p.name}_by];")
        map_expr = self._map
        if stage == "last":
            arguments, first, map_expr = [f"const {kind}* _parts_of"], [], "_parts_of[i]"
        if stage == "parts":
            arguments.append(f"{kind}* _parts_of")
            store = "_parts_of[_task] = _result;"
        else:
            arguments.append(f"{dtype}* {out.name}_of")
            store = f"""{kind} a = _result;
        {dtype} {out.name} = 0;
        {self._post};
        {out.name}_of[_row] = {out.name};"""
        combine = f"""
    __shared__ {kind} _of_items[{BLOCK}];
    _of_items[threadIdx.x] = _result;
    __syncthreads();
    for (int _half = {width // 2}; _half > 0; _half >>= 1) {{
        if (_lane < _half) {{
            {kind} a = _of_items[threadIdx.x], b = _of_items[threadIdx.x + _half];
            _of_items[threadIdx.x] = {self._reduce};
        }}
        __syncthreads();
    }}
    _result = _of_items[threadIdx.x];"""
        return f"""{typedefs(letters)}{self.preamble}
extern "C" __global__ void {self.name}({", ".join(arguments)}, long long _rows, long long _columns, int _parts) {{
    int _lane = threadIdx.x % {width};
    long long _task = (long long)blockIdx.x * {BLOCK // width} + threadIdx.x / {width};
    long long _row = _task / _parts, _part = _task % _parts;
    {kind} _result = {self._identity};
    if (_row < _rows) {{
        for (long long _k = _part * {width} + _lane; _k < _columns; _k += (long long)_parts * {width}) {{
            long long i = _row * _columns + _k;
            {" ".join(first)}
            {kind} a = _result, b = {map_expr};
            _result = {self._reduce};
        }}
    }}{combine if width > 1 else ""}
    if (_row < _rows && _lane == 0) {{
        {store}
    }}
}}
"""

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
        if rows:
            self._combine(letters, types, given, result.reshape(-1), rows, columns, stream)
        if out is None:
            return result
        out[...] = result
        return out

    def _combine(self, letters, types, given, result, rows, columns, stream):
        import unisono as un

        def run(stage, arguments, columns, parts):
            width = _width_of(columns)
            kernel = self._kernel(letters, types, stage, width)
            blocks = -(-rows * parts * width // BLOCK)
            kernel(blocks, BLOCK, (*arguments, rows, columns, parts), stream=stream)

        parts = max(1, min(MOST_PARTS, columns // (4 * BLOCK), MOST_BLOCKS // rows))
        if parts == 1:
            run("whole", (*given, result), columns, 1)
            return
        last = self._kernel(letters, types, "last", _width_of(parts))
        kind = last._function().parameters[0][0].base
        between = un.empty(rows * parts, kind, device=result.device.name)
        run("parts", (*given, between), columns, parts)
        run("last", (between, result), parts, 1)


def _no(name, axis, shape):
    raise ValueError(
        f"{name}: axis {axis} is out of range; got an array of {len(shape)} axes; give one of them"
    )
