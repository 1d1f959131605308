"""``ReductionKernel`` with CuPy's signature: a raw kernel that combines rows, and for long ones one of their parts.

A row, or each part of it, has lanes that take its elements in turn and that halves combine at last. On GPUs a lane is a
work-item, so that neighbours read neighbours; on CPUs a work-item has all lanes, as a loop that becomes vectors.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _engine
from .._engine import _Array
from ..cuda import devices
from ..cuda.launches import ranges, sizes
from .arguments import is_packed, place_of
from .kernels import RawKernel
from .typed import BLOCK, C_NAMES, MOST_PLANS, Typed, key_of, laid_out, readable, typedefs

LANES = 32  # of a row that is longer than MOST_ALONE
MOST_ALONE = 16  # columns of a row that one work-item combines in their order
LEAST_OF_A_PART, MOST_PARTS, MOST_TASKS = 1024, 512, 2048  # columns; of a row; of all rows
MOST_BLOCKS_OF_A_CPU = 64


class ReductionKernel(_engine._KnownCalls, Typed):
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
        self._made_of = (
            (
                in_params,
                out_params,
                map_expr,
                reduce_expr,
                post_map_expr,
                identity,
                name,
                reduce_type,
                reduce_dims,
                preamble,
            ),
            {"options": options},
        )
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
        return {types: k.code for (types, stage, *_), k in self._texts.items() if stage != "last"}

    def _kernel(self, letters, types, alike, stage, lanes, is_wide):
        """What combines rows of so many lanes: as a whole, to parts of them, or from these at last."""
        key = types, stage, alike, lanes, is_wide
        made = self._texts.get(key)
        if made is None:
            text = self._text(letters, types, alike, stage, lanes, is_wide)
            made = self._texts[key] = RawKernel(text, self.name, self.options)
        return made

    def _text(self, letters, types, alike, stage, lanes, is_wide):
        """`alike`: of each parameter whether all elements take its only one."""
        out = self._out[0]
        dtype = C_NAMES[types[-1]]
        kind = self._type or dtype
        arguments, first = [], []
        for p, of_argument, is_one in zip(self._in, types, alike, strict=False):
            c = C_NAMES[of_argument]
            if p.is_raw:
                arguments.append(f"const {c}* {p.name}")
            else:
                arguments.append(f"const {c}* {p.name}_of")
                first.append(f"{c} {p.name} = {p.name}_of[{'0' if is_one else 'i'}];")
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

        def add(into, at):
            return f"""{{
            long long i = _row * _columns + {at};
            {" ".join(first)}
            {kind} a = {into}, b = {map_expr};
            {into} = {self._reduce};
        }}"""

        def combine(into, lane, half):
            return f"""{{
            {kind} a = {into}[{lane}], b = {into}[{lane} + {half}];
            {into}[{lane}] = {self._reduce};
        }}"""

        if lanes == 1:
            body = f"for (long long _k = _begin; _k < _end; ++_k) {add('_result', '_k')}"
        elif is_wide:
            body = f"""long long _k = _begin + _lane;
    for (; _k < _end; _k += {lanes}) {add("_result", "_k")}
    __shared__ {kind} _of_items[{BLOCK}];
    _of_items[threadIdx.x] = _result;
    __syncthreads();
    for (int _half = {lanes // 2}; _half > 0; _half >>= 1) {{
        if (_lane < _half) {combine("_of_items", "threadIdx.x", "_half")}
        __syncthreads();
    }}
    _result = _of_items[threadIdx.x];"""
        else:
            halves = [lanes >> k for k in range(1, lanes.bit_length())]
            body = f"""{kind} _of_lanes[{lanes}];
    for (long long _l = 0; _l < {lanes}; ++_l) _of_lanes[_l] = _result;
    long long _k = _begin;
    for (; _k + {lanes} <= _end; _k += {lanes})
        for (long long _l = 0; _l < {lanes}; ++_l) {add("_of_lanes[_l]", "_k + _l")}
    for (long long _l = 0; _l < _end - _k; ++_l) {add("_of_lanes[_l]", "_k + _l")}
""" + "".join(
                f"    for (long long _l = 0; _l < {n}; ++_l) {combine('_of_lanes', '_l', n)}\n"
                for n in halves
            )
            body += "    _result = _of_lanes[0];"
        items = lanes if is_wide else 1  # of a task
        task = "long long _row = _task, _begin = 0, _end = _row < _rows ? _columns : 0;"
        if stage == "parts":
            task = """long long _row = _task / _parts, _begin = _task % _parts * _each;
    long long _end = _row < _rows ? min(_begin + _each, _columns) : _begin;"""
        return f"""{typedefs(letters)}{self.preamble}
extern "C" __global__ void {self.name}({", ".join(arguments)}, long long _rows, long long _columns, int _parts,
                                       long long _each) {{
    int _lane = threadIdx.x % {items};
    long long _task = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / {items};
    {task}
    {kind} _result = {self._identity};
    {body}
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
        # Calls like one that was remembered do not come here (_KnownCalls).
        if len(args) not in (len(self._in), len(self._in) + 1):
            self._wrong_count(args)
        if len(args) > len(self._in):
            out, args = args[-1], args[:-1]
        args = tuple(map(readable, args))
        key = (axis, keepdims, devices.current_device().name, *map(key_of, args))
        key = (*key, *(() if out is None else (key_of(out),)))
        plan = self._plans.get(key)
        is_new = plan is None
        if is_new:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = _Plan(self, args, out, axis, keepdims)
        result = plan.run(args, out, stream)
        if is_new and axis is None and not keepdims and stream is None:
            plan.remember(self, args, out)
        return result


class _Plan:
    """How calls with arguments of certain dtypes, shapes, strides and places run."""

    def __init__(self, owner, args, out, axis, keepdims):
        self.device = place_of(args)
        letters = owner._bound((*args, *([] if out is None else [out])))
        types = owner._types(letters)
        shapes = [
            tuple(a.shape) for p, a in zip(owner._in, args, strict=True) if not p.is_raw and hasattr(a, "shape")
        ]  # fmt: skip
        shape = np.broadcast_shapes(*shapes) if shapes else ()
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(
            sorted(
                int(x) % len(shape) if -len(shape) <= x < len(shape) else _no(owner.name, x, shape)
                for x in axes
            )
        )
        kept = [k for k in range(len(shape)) if k not in axes]
        self.rows = math.prod(shape[k] for k in kept)
        self.columns = math.prod(shape[k] for k in axes)
        self.inputs = [
            (dtype, None if p.is_raw or np.size(a) == 1 else (shape, (*kept, *axes)))
            for p, dtype, a in zip(owner._in, types, args, strict=False)
        ]
        self.dtype = types[-1]
        self.shape = (
            tuple(1 if k in axes else n for k, n in enumerate(shape))
            if keepdims
            else tuple(shape[k] for k in kept)
        )
        # Whether the result can be computed where it is wanted.
        self.is_out_plain = (
            isinstance(out, _Array)
            and (out.device.name, out.dtype.name) == (self.device, self.dtype)
            and tuple(out.shape) == self.shape
            and is_packed(out)
        )
        self.stages = self._stages(owner, letters, types, args) if self.rows else []

    def _stages(self, owner, letters, types, args):
        """Of each launch: kernel, grid, block and the numbers behind its arrays."""
        import unisono as un

        rows, columns = self.rows, self.columns
        alike = tuple(np.size(a) == 1 for a in args)
        is_wide = un.empty(0, device=self.device).device.kind == "gpu"

        def stage(name, columns, parts):
            lanes = 1 if columns <= MOST_ALONE else LANES
            kernel = owner._kernel(letters, types, alike, name, lanes, is_wide)
            items = rows * parts * (lanes if is_wide else 1)
            block = BLOCK if is_wide else min(BLOCK, -(-items // MOST_BLOCKS_OF_A_CPU))
            each = -(-columns // (parts * LANES)) * LANES
            return kernel, (-(-items // block),), (block,), (rows, columns, parts, each)

        parts = max(1, min(MOST_PARTS, columns // LEAST_OF_A_PART, MOST_TASKS // rows))
        if parts == 1:
            return [stage("whole", columns, 1)]
        made = [stage("parts", columns, parts), stage("last", parts, 1)]
        self.between = rows * parts, made[1][0]._function().parameters[0][0].base
        return made

    def _given(self, a, dtype, box):
        """The argument as the kernel takes it."""
        if box is None:
            made = laid_out(a, dtype, None, self.device)
        else:
            shape, order = box
            made = laid_out(a, dtype, shape, self.device)
            if list(order) != sorted(order):
                made = laid_out(made.transpose(*order), dtype, None, self.device)
        return made if made.ndim == 1 else made.reshape(-1)

    def run(self, args, out, stream):
        """The result of a call."""
        import unisono as un

        given = [self._given(a, *of_it) for a, of_it in zip(args, self.inputs, strict=True)]
        is_there = self.is_out_plain and not any(un.may_share_memory(g, out) for g in given)
        result = out if is_there else un.empty(self.shape, self.dtype, device=self.device)
        if self.stages:
            flat = result.reshape(-1)
            options = {} if stream is None else {"stream": stream}
            *first, (kernel, grid, block, numbers) = self.stages
            if first:
                between = un.empty(*self.between, device=self.device)
                of_parts, *sizes, last_numbers = first[0]
                of_parts(*sizes, (*given, between, *last_numbers), **options)
                given = [between]
            kernel(grid, block, (*given, flat, *numbers), **options)
        if out is None or is_there:
            return result
        out[...] = result
        return out

    def remember(self, owner, args, out):
        """Calls with arguments like these need not be looked at again, where all are passed as they are."""
        is_row = len(self.stages) == 1 and all(
            hasattr(a, "shape") and (box is None or tuple(a.shape) == box[0])
            for a, (_, box) in zip(args, self.inputs, strict=True)
        )
        if not is_row or (out is not None and not self.is_out_plain):
            return
        ((kernel, grid, block, numbers),) = self.stages
        launched, hidden = kernel._kernel(self.device, 0)
        if hidden:
            return
        types = tuple((dtype, True) for dtype, _ in self.inputs)
        over, local = ranges(
            launched.axes, sizes(owner.name, grid, "blocks"), sizes(owner.name, block, "threads")
        )
        if out is None:
            given, made = args, ((self.dtype, self.shape),)
        else:
            types, given, made = (*types, (self.dtype, True)), (*args, out), ()
        owner._remember(
            types, given, len(given) - len(args), True, made, launched, over, local, numbers, 1
        )


ReductionKernel._call_quickly()


def _no(name, axis, shape):
    raise ValueError(
        f"{name}: axis {axis} is out of range; got an array of {len(shape)} axes; give one of them"
    )
