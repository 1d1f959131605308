"""``ElementwiseKernel`` and ``ReductionKernel`` with CuPy's signatures: texts around an expression, run as raw kernels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._engine import ndarray
from ..cuda.devices import current_device
from .kernels import RawKernel, is_packed

_C = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long long", "uint64": "unsigned long long",
    "float16": "__half", "float32": "float", "float64": "double",
}  # fmt: skip
_BLOCK = 256


class Parameter(NamedTuple):
    """One of the names that a kernel takes: a dtype or a letter that stands for one."""

    type: str
    name: str
    is_raw: bool


def parameters(text, where):
    """The Parameters of ``"T x, raw float32 y"``."""
    made = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        words = part.split()
        is_raw = words[0] == "raw"
        words = [w for w in words[is_raw:] if w != "const"]
        if len(words) != 2 or not words[1].isidentifier():
            raise ValueError(
                f"{where}: a parameter is a type and a name; got {part!r}; write 'T x' or 'raw float32 y'"
            )
        kind = words[0]
        if len(kind) > 1:
            try:
                kind = np.dtype(kind).name
            except TypeError:
                kind = ""
            if kind not in _C:
                raise ValueError(
                    f"{where}: the type of '{words[1]}' is unknown; got {words[0]!r}; expected a dtype or a letter"
                )
        made.append(Parameter(kind, words[1], is_raw))
    return made


class _Typed:
    """What both kernels have in common: parameters, and a text for each combination of dtypes."""

    def _begin(self, in_params, out_params, name, preamble, options):
        self.name = self.__name__ = name
        self._in, self._out = parameters(in_params, name), parameters(out_params, name)
        names = [p.name for p in (*self._in, *self._out)]
        if len(set(names)) != len(names):
            raise ValueError(f"{name}: parameters have different names; got {names}; rename one")
        self._preamble, self._options, self._texts = preamble, tuple(options), {}

    def _bound(self, given):
        """dtypes by letter, and those of the parameters given."""
        letters, dtypes = {}, []
        numbers = []
        for p, a in zip((*self._in, *self._out), given, strict=False):
            dtype = a.dtype.name if hasattr(a, "shape") and getattr(a, "ndim", 1) >= 0 else None
            is_number = dtype is None
            if len(p.type) > 1:
                dtypes.append(p.type)
            elif is_number:
                numbers.append((p, a))
                dtypes.append(None)
            else:
                if letters.setdefault(p.type, dtype) != dtype:
                    raise TypeError(
                        f"{self.name}: {p.type} is {letters[p.type]} and {dtype}; got both in one call; convert one "
                        f"argument, or name its type by another letter"
                    )
                dtypes.append(dtype)
        for p, a in numbers:
            letters.setdefault(p.type, np.asarray(a).dtype.name)
        return letters

    def _types(self, letters):
        missing = [p.type for p in self._out if len(p.type) == 1 and p.type not in letters]
        if missing:
            raise TypeError(
                f"{self.name}: the type {missing[0]} of a result is not known; got no argument of it; pass the "
                f"result, or write its dtype"
            )
        return tuple(letters.get(p.type, p.type) for p in (*self._in, *self._out))

    def _device(self, given):
        for a in given:
            if isinstance(a, ndarray) and a.device.name != "cpu":
                return a.device.name
        return current_device().name

    def _wrong_count(self, given, out):
        raise TypeError(
            f"{self.name}: takes {len(self._in)} arguments, and {len(self._out)} results where they are given; got "
            f"{len(given)}; give {', '.join(p.name for p in self._in)}"
        )


def _typedefs(letters):
    return "".join(f"typedef {_C[d]} {k};\n" for k, d in letters.items())


def _array(a, dtype, shape, device):
    """The argument as a packed array of that shape on the device."""
    import unisono as un

    if isinstance(a, ndarray) and a.dtype.name == dtype and a.device.name == device:
        if (shape is None or tuple(a.shape) == shape) and is_packed(a):
            return a
    made = un.asarray(a, dtype=dtype, device=device)
    if shape is not None and tuple(made.shape) != tuple(shape):
        made = un.broadcast_to(made, shape)
    return made if is_packed(made) else made.copy()


class ElementwiseKernel(_Typed):
    """A kernel that computes each element of its results by C text.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, as ``"T x, raw float32 table, int32 k"``. A letter stands for the dtype of its arguments. Arrays
        are broadcast; ``raw`` ones are not, and are indexed in the text.
    operation : str
        C text that assigns the results; ``i`` is the number of the element, ``n`` how many there are.
    name : str
    reduce_dims, preamble, no_return, return_tuple, loop_prep, after_loop, options : optional
        CuPy's: `preamble` is text in front of the kernel, `loop_prep` in front of the operation; ``return_tuple``
        gives a tuple of one result, too.

    Raises
    ------
    ValueError
        For parameters that cannot be read.
    TypeError
        At a call: arguments whose number or dtypes do not fit.
    CompileError
        At a call: an error of the text.

    Examples
    --------
    >>> import unisono as un
    >>> squared = un.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
    >>> squared(un.arange(4.0), 1)
    array([1., 0., 1., 4.])
    """

    def __init__(
        self, in_params, out_params, operation, name="kernel", reduce_dims=True, preamble="", no_return=False,
        return_tuple=False, *, loop_prep="", after_loop="", options=(), **ignored,
    ):  # fmt: skip
        self._begin(in_params, out_params, name, preamble, options)
        self.operation, self._no_return, self._return_tuple = operation, no_return, return_tuple
        self._loop_prep, self._after = loop_prep, after_loop

    def _text(self, letters, types):
        arguments, first, last = [], [], []
        for k, (p, dtype) in enumerate(zip((*self._in, *self._out), types, strict=True)):
            is_out, c = k >= len(self._in), _C[dtype]
            if p.is_raw:
                const = "" if is_out else "const "
                arguments.append(f"{const}{c}* {p.name}")
            elif is_out:
                arguments.append(f"{c}* {p.name}_of")
                first.append(f"{c} {p.name} = {p.name}_of[i];")
                last.append(f"{p.name}_of[i] = {p.name};")
            else:
                arguments.append(f"const {c}* {p.name}_of, long long {p.name}_by")
                first.append(f"{c} {p.name} = {p.name}_of[i * {p.name}_by];")
        return (
            f"{_typedefs(letters)}{self._preamble}\n"
            f'extern "C" __global__ void {self.name}({", ".join(arguments)}, long long n) {{\n'
            f"    {self._loop_prep};\n"
            f"    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"    if (i < n) {{\n        {' '.join(first)}\n        {self.operation};\n        {' '.join(last)}\n    }}\n"
            f"    {self._after};\n}}\n"
        )

    def __call__(self, *args, size=None, stream=None, block_size=_BLOCK):
        """Compute the results.

        Parameters
        ----------
        *args : array or number
            The arguments, and the results where they exist already.
        size : int, optional
            Number of elements, where all arrays are raw.

        Returns
        -------
        ndarray or tuple of ndarray
        """
        import unisono as un

        count = len(self._in)
        if len(args) not in (count, count + len(self._out)):
            self._wrong_count(args, self._out)
        device = self._device(args)
        letters = self._bound(args)
        types = self._types(letters)
        shapes = [
            tuple(a.shape) for p, a in zip((*self._in, *self._out), args, strict=False)
            if not p.is_raw and hasattr(a, "shape")
        ]  # fmt: skip
        if size is not None:
            shape = (int(size),)
        elif shapes:
            first = shapes[0]
            shape = first if all(s == first for s in shapes) else np.broadcast_shapes(*shapes)
        else:
            raise ValueError(
                f"{self.name}: the number of elements is not known; got raw arrays only; give size="
            )
        given, total = [], math.prod(shape)
        for p, dtype, a in zip(self._in, types, args, strict=False):
            is_one = not p.is_raw and getattr(a, "size", 1) == 1
            made = _array(a, dtype, None if p.is_raw or is_one else shape, device)
            given += [made.reshape(-1)] if p.is_raw else [made.reshape(-1), 0 if is_one else 1]
        results = list(args[count:])
        for p, dtype in zip(self._out[len(results) :], types[count + len(results) :], strict=True):
            if p.is_raw and size is None:
                raise ValueError(
                    f"{self.name}: the raw result '{p.name}' has no shape; got none; pass an array"
                )
            results.append(un.zeros(shape, dtype, device=device))
        for p, dtype, r in zip(self._out, types[count:], results, strict=True):
            if r.dtype.name != dtype or (not p.is_raw and tuple(r.shape) != tuple(shape)):
                raise TypeError(
                    f"{self.name}: the result '{p.name}' is {dtype} of shape {shape}; got {r.dtype.name} of shape "
                    f"{tuple(r.shape)}; leave it out, or give such an array"
                )
        own = [r if is_packed(r) else r.copy() for r in results]
        kernel = self._texts.get(types)
        if kernel is None:
            kernel = self._texts[types] = RawKernel(
                self._text(letters, types), self.name, self._options
            )
        if total:
            blocks = -(-total // block_size)
            kernel(
                blocks, block_size, (*given, *(r.reshape(-1) for r in own), total), stream=stream
            )
        for r, o in zip(results, own, strict=True):
            if r is not o:
                r[...] = o
        if self._no_return:
            return None
        return results[0] if len(results) == 1 and not self._return_tuple else tuple(results)


class ReductionKernel(_Typed):
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

    def _text(self, letters, types):
        out = self._out[0]
        kind = self._type or _C[types[-1]]
        arguments, first = [], []
        for p, dtype in zip(self._in, types, strict=False):
            c = _C[dtype]
            if p.is_raw:
                arguments.append(f"const {c}* {p.name}")
            else:
                arguments.append(f"const {c}* {p.name}_of, long long {p.name}_by")
                first.append(f"{c} {p.name} = {p.name}_of[i * {p.name}_by];")
        combine = f"    partial_of[threadIdx.x] = result;\n    __syncthreads();\n    for (int half = {_BLOCK // 2}; half > 0; half >>= 1) {{\n"
        combine += f"        if (threadIdx.x < half) {{ {kind} a = partial_of[threadIdx.x], b = partial_of[threadIdx.x + half]; partial_of[threadIdx.x] = {self._reduce}; }}\n        __syncthreads();\n    }}\n"
        head = f"    __shared__ {kind} partial_of[{_BLOCK}];\n    long long row = blockIdx.x / parts, part = blockIdx.x % parts;\n    {kind} result = {self._identity};\n"
        each = f"    for (long long k = part * {_BLOCK} + threadIdx.x; k < columns; k += (long long)parts * {_BLOCK}) {{\n        long long i = row * columns + k;\n"
        return (
            f"{_typedefs(letters)}{self._preamble}\n"
            f'extern "C" __global__ void {self.name}_parts({", ".join(arguments)}, {kind}* parts_of, long long columns, int parts) {{\n'
            f"{head}{each}        {' '.join(first)}\n        {kind} a = result, b = {self._map};\n        result = {self._reduce};\n    }}\n"
            f"{combine}    if (threadIdx.x == 0) parts_of[blockIdx.x] = partial_of[0];\n}}\n"
            f'extern "C" __global__ void {self.name}_last(const {kind}* parts_of, {_C[types[-1]]}* {out.name}_of, long long columns, int parts) {{\n'
            f"{head}{each}        {kind} a = result, b = parts_of[i];\n        result = {self._reduce};\n    }}\n"
            f"{combine}    if (threadIdx.x == 0) {{\n        {kind} a = partial_of[0];\n        {_C[types[-1]]} {out.name} = 0;\n"
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
            self._wrong_count(args, self._out)
        if len(args) > len(self._in):
            out, args = args[-1], args[:-1]
        device = self._device(args)
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
                made = _array(a, dtype, None, device)
            else:
                made = _array(
                    _array(a, dtype, shape, device).transpose(*kept, *axes), dtype, None, device
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
            from .kernels import RawModule

            module = RawModule(code=self._text(letters, types), options=self._options)
            first, last = (module.get_function(f"{self.name}_{w}") for w in ("parts", "last"))
            self._texts[types] = first, last, last._function().parameters[0][0].base
        first, last, kind = self._texts[types]
        if rows:
            parts = max(1, min(64, columns // (4 * _BLOCK)))
            between = un.empty(rows * parts, kind, device=device)
            first(rows * parts, _BLOCK, (*given, between, columns, parts), stream=stream)
            last(rows, _BLOCK, (between, result.reshape(-1), parts, 1), stream=stream)
        if out is None:
            return result
        out[...] = result
        return out


def _no(name, axis, shape):
    raise ValueError(
        f"{name}: axis {axis} is out of range; got an array of {len(shape)} axes; give one of them"
    )
