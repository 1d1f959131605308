"""``ElementwiseKernel`` with CuPy's signature: a text around an expression of elements, run as a raw kernel.

A call's arguments decide by dtype, shape, strides and device how it runs; this is found out once and kept as a `_Plan`.
"""

from __future__ import annotations

import contextlib
import math
import re

import numpy as np

from .. import _engine
from .._engine import _Array
from .._records.strided_memory import packed_strides
from ..cuda import Stream, devices
from .arguments import is_packed, number_of, place_of
from .kernels import RawKernel
from .textures import TextureObject
from .typed import (
    BLOCK,
    C_NAMES,
    MOST_PLANS,
    TEXTURE,
    Typed,
    is_number,
    key_of,
    laid_out,
    readable,
    typedefs,
)

_LAYOUT = re.compile(r"\b(\w+)\s*\.\s*(size|shape|strides)\s*\(\s*\)")
_INDEXED = re.compile(r"\b(\w+)\s*\[\s*(\w+)\s*\]")
_LIST = re.compile(r"\b\w+\s+(\w+)\s*\[[^\]]*\]\s*[=;,]")  # a declared array
_as_it_is, _flat, _converted, _number, _texture = range(5)  # how an argument is passed


class _Plan:
    """How calls with arguments of certain dtypes, shapes and places run."""

    def __init__(self, owner, args, size, block_size):
        if block_size < 1:
            raise ValueError(
                f"{owner.name}: block_size is the number of threads of a block; got {block_size}; give a positive one"
            )
        count = len(owner._in)
        self.owner, self.device = owner, place_of(args)
        letters = owner._bound(args)
        self.types = owner._types(letters)
        self.shape = shape = self._extent(args, size)
        self.inputs, kinds = [], []
        for p, dtype, a in zip(owner._in, self.types, args, strict=False):
            how, wanted = self._way(a, p, dtype)
            if how == _texture:
                kinds.append("raw")
            else:
                is_one = not p.is_raw and how != _number and a.size == 1
                kinds.append(
                    "raw" if p.is_raw else "number" if how == _number else "one" if is_one else ""
                )
            self.inputs.append((how, p.name, dtype, wanted))
        given = args[count:]
        self.checked(given, size)
        self.outputs = [
            (p, dtype, self._like(args, dtype)) for p, dtype in zip(owner._out, self.types[count:], strict=True)
        ]  # fmt: skip
        # Whether results can be written where they lie.
        self.is_plain = all(isinstance(r, _Array) and r.ndim == 1 and is_packed(r) for r in given)
        self.total = math.prod(shape)
        self.over = -(-self.total // block_size) * block_size, block_size
        self.last = [self.total]  # arguments behind those of the call
        for p, dtype, a in zip((*owner._in, *owner._out), self.types, args, strict=False):
            if p.name in owner._laid_out:
                shape = np.shape(a)
                self.last += [*shape, *packed_strides(shape, np.dtype(dtype).itemsize)]
                kinds.append((p.name, len(shape)))
        self.kernel, self.launch = owner._kernel_of(self.types, tuple(kinds), letters), None

    def _extent(self, args, size):
        owner = self.owner
        shapes = [
            tuple(a.shape) for p, a in zip((*owner._in, *owner._out), args, strict=False)
            if not p.is_raw and not is_number(a) and not isinstance(a, TextureObject)
        ]  # fmt: skip
        if size is not None:
            if shapes:
                raise ValueError(
                    f"Specified 'size' can be used only if all of the ndarray are 'raw'; got size={size} and arrays of "
                    f"shape {shapes} in a call of {owner.name}; leave it out"
                )
            return (int(size),)
        if not shapes:
            raise ValueError(
                f"Loop size is undecided. {owner.name} got raw arrays and numbers only; give size="
            )
        first = shapes[0]
        return first if all(s == first for s in shapes) else np.broadcast_shapes(*shapes)

    def _way(self, a, p, dtype):
        """How the argument is passed, and its shape where it must be brought to one."""
        if isinstance(a, TextureObject):
            return _texture, None
        if is_number(a) and not p.is_raw:
            return _number, None
        is_here = isinstance(a, _Array) and a.device.name == self.device
        is_here |= type(a) is np.ndarray and self.device == "cpu" and a.dtype.isnative
        is_one = getattr(a, "size", 1) == 1
        wanted = None if p.is_raw or is_one else self.shape
        fits = wanted is None or tuple(a.shape) == tuple(wanted)
        if is_here and fits and a.dtype.name == dtype and is_packed(a):
            return (_as_it_is if a.ndim == 1 else _flat), wanted
        return _converted, wanted

    def _like(self, args, dtype):
        """Number of an argument like which results of the dtype are made, or -1."""
        for k, (how, *_) in enumerate(self.inputs):
            if how < _converted and isinstance(args[k], _Array):
                if args[k].dtype.name == dtype and tuple(args[k].shape) == tuple(self.shape):
                    return k
        return -1

    def checked(self, results, size):
        """Refuses results of other dtypes or shapes."""
        owner = self.owner
        for p, dtype, r in zip(owner._out, self.types[len(owner._in) :], results, strict=False):
            if not isinstance(r, (_Array, np.ndarray)):
                raise TypeError(
                    f"{owner.name}: the result '{p.name}' is an array; got {type(r).__name__}; leave it out, or give one"
                )
            fits = p.is_raw or tuple(r.shape) == tuple(self.shape)
            if r.dtype.name != dtype or not fits:
                kind = ValueError if r.dtype.name == dtype else TypeError
                first = "" if fits else "Out shape is mismatched: "
                raise kind(
                    f"{first}{owner.name}: the result '{p.name}' is {dtype} of shape {tuple(self.shape)}; got {r.dtype.name} "
                    f"of shape {tuple(r.shape)}; leave it out, or give such an array"
                )
        if not results and size is None:
            for p in owner._out:
                if p.is_raw:
                    raise ValueError(
                        f"{owner.name}: the raw result '{p.name}' has no shape; got none; pass an array"
                    )

    def run(self, args, stream):
        """The results of a call."""
        given = []
        for (how, name, dtype, wanted), a in zip(self.inputs, args, strict=False):
            if how == _as_it_is:
                given.append(a)
            elif how == _flat:
                given.append(a.reshape(-1))
            elif how == _texture:
                given.append(a._memory)
            elif how == _number:
                given.append(number_of(self.owner.name, name, dtype, a))
            else:
                given.append(laid_out(a, dtype, wanted, self.device).reshape(-1))
        results = args[len(self.inputs) :]
        is_plain = self.is_plain
        if not results:
            results = [self._made(args, dtype, like) for _, dtype, like in self.outputs]
            is_plain = len(self.shape) == 1
        if is_plain:
            own = results
            given += results
        else:
            own = [r if is_packed(r) else r.copy() for r in results]
            given += [r.reshape(-1) for r in own]
        if self.total:
            given += self.last
            self._launch(given, stream)
        if own is not results:
            for r, o in zip(results, own, strict=True):
                if r is not o:
                    r[...] = o
        return results

    def remember(self, args):
        """Calls with arguments like these need not be looked at again, where all are passed as they are."""
        ways = [how for how, *_ in self.inputs]
        if (
            self.launch is None
            or self.hidden
            or not all(how in (_as_it_is, _flat, _number) for how in ways)
        ):
            return
        owner, count = self.owner, len(self.inputs)
        are_arrays = [how != _number for how in ways] + [True] * len(self.outputs)
        types = tuple(zip(self.types, are_arrays, strict=True))[: len(args)]
        given = len(args) - count
        made = () if given else tuple((dtype, tuple(self.shape)) for _, dtype, _ in self.outputs)
        gives = 0 if owner.no_return else 2 if len(self.outputs) > 1 or owner.return_tuple else 1
        over, local = self.over[:1], self.over[1:]
        owner._remember(
            types, args, given, False, made, self.launched, over, local, tuple(self.last), gives
        )

    def _made(self, args, dtype, like):
        import unisono as un

        if like >= 0:
            return un.empty_like(args[like])
        return un.empty(self.shape, dtype, device=self.device)

    def _launch(self, given, stream):
        if self.launch is None:
            self.launched, self.hidden = self.kernel._kernel(self.device, 0)
            self.launch = self.launched._launch
        for _, name, dtype in self.hidden:
            given.append(self.kernel._module._global(name, self.device, dtype))
        over, local = self.over
        with stream.statements() if isinstance(stream, Stream) else _nothing:
            self.launch((over,), (local,), tuple(given), {})


_nothing = contextlib.nullcontext()


class ElementwiseKernel(_engine._KnownCalls, Typed):
    """A kernel that computes each element of its results by C text.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, as ``"T x, raw float32 table, int32 k"``. A letter stands for the dtype of its arguments. Arrays
        are broadcast; ``raw`` ones are not, and are indexed in the text.
    operation : str
        C text that assigns the results; ``i`` is the number of the element, ``n`` or ``_ind.size()`` how many there
        are (``n`` may be a parameter). A raw array ``x`` has ``x.size()``, ``x.shape()[k]`` and ``x.strides()[k]``.
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

    Notes
    -----
    Elements of new results that the text does not assign are undefined, as CuPy's are.

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
        self._made_of = (
            (
                in_params,
                out_params,
                operation,
                name,
                reduce_dims,
                preamble,
                no_return,
                return_tuple,
            ),
            {"loop_prep": loop_prep, "after_loop": after_loop, "options": options},
        )
        self.operation, self.no_return, self.return_tuple = operation, no_return, return_tuple
        self._loop_prep, self._after = loop_prep, after_loop
        names = [p.name for p in (*self._in, *self._out) if p.is_raw]
        texts = operation, loop_prep, after_loop
        asked = {m[1] for text in texts for m in _LAYOUT.finditer(text)}
        self._lists = {m[1] for text in texts for m in _LIST.finditer(text)}
        asked |= {m[1] for text in texts for m in _INDEXED.finditer(text) if m[2] in self._lists}
        self._laid_out = {
            n for n in names if n in asked
        }  # raw arrays whose layouts the texts ask for
        self._counts = len(self._in), len(self._in) + len(self._out)

    def _text(self, letters, types, kinds):
        arguments, first, last, layouts = [], [], [], []
        count = "_n" if any(p.name == "n" for p in (*self._in, *self._out)) else "n"
        for k, (p, dtype) in enumerate(zip((*self._in, *self._out), types, strict=True)):
            is_out, c = k >= len(self._in), C_NAMES[dtype]
            if dtype == TEXTURE:
                arguments.append(f"{c} {p.name}")
            elif p.is_raw:
                const = "" if is_out else "const "
                arguments.append(f"{const}{c}* {p.name}")
            elif is_out:
                arguments.append(f"{c}* {p.name}_of")
                first.append(f"{c} {p.name} = {p.name}_of[i];")
                last.append(f"{p.name}_of[i] = {p.name};")
            elif kinds[k] == "number":
                arguments.append(f"{c} {p.name}_of")
                first.append(f"{c} {p.name} = {p.name}_of;")
            else:
                arguments.append(f"const {c}* {p.name}_of")
                first.append(f"{c} {p.name} = {p.name}_of[{'0' if kinds[k] == 'one' else 'i'}];")
        arguments.append(f"long long {count}")
        for name, axes in kinds[len(self._in) :]:
            for word in ("shape", "strides"):
                numbers = [f"{name}_{word}_{k}" for k in range(axes)]
                arguments += [f"long long {number}" for number in numbers]
                layouts.append(f"long long {name}_{word}_of[] = {{{', '.join(numbers) or '0'}}};")
            sizes = "".join(f" * {name}_shape_{k}" for k in range(axes))
            layouts.append(f"long long {name}_size_of = 1{sizes};")
        prepare, operation, after = (
            self._named(text, count, dict(kinds[len(self._in) :]))
            for text in (self._loop_prep, self.operation, self._after)
        )
        return (
            f"{typedefs(letters)}{self.preamble}\n"
            f'extern "C" __global__ void {self.name}({", ".join(arguments)}) {{\n'
            f"    {' '.join(layouts)}{prepare};\n"
            f"    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"    if (i < {count}) {{\n        {' '.join(first)}\n        {operation};\n        {' '.join(last)}\n    }}\n"
            f"    {after};\n}}\n"
        )

    def _named(self, text, count, ranks):
        """The text with names for what it asks of arrays' layouts and of the loop.

        ``x[idx]`` with a list of integers, one an axis, becomes the place in row-major order.
        """

        def name(m):
            if m[1] == "_ind" and m[2] == "size":
                return count
            return f"{m[1]}_{m[2]}_of" if m[1] in self._laid_out else m[0]

        def place(m):
            if m[1] not in ranks or m[2] not in self._lists:
                return m[0]
            at = f"(long long){m[2]}[0]" if ranks[m[1]] else "0"
            for k in range(1, ranks[m[1]]):
                at = f"({at}) * {m[1]}_shape_{k} + {m[2]}[{k}]"
            return f"{m[1]}[{at}]"

        return _INDEXED.sub(place, _LAYOUT.sub(name, text))

    def _kernel_of(self, types, kinds, letters):
        kernel = self._texts.get((types, kinds))
        if kernel is None:
            text = self._text(letters, types, kinds)
            kernel = self._texts[types, kinds] = RawKernel(text, self.name, self.options)
        return kernel

    def __call__(self, *args, size=None, stream=None, block_size=BLOCK):
        """Compute the results.

        Parameters
        ----------
        *args : array or number
            The arguments, and the results where they exist already.
        size : int, optional
            Number of elements, where all arrays are raw.
        stream : unisono.cuda.Stream, optional
        block_size : int
            Threads of a block.

        Returns
        -------
        ndarray or tuple of ndarray
        """
        # Calls like one that was remembered do not come here (_KnownCalls).
        if len(args) not in self._counts:
            self._wrong_count(args)
        key = (size, block_size, devices.current_device().name, *map(key_of, args))
        plan = self._plans.get(key)
        is_new = plan is None
        if is_new:
            read = [readable(a) for a in args]
            plan = _Plan(self, read, size, block_size)
            if all(r is a for r, a in zip(read, args, strict=True)):
                if len(self._plans) >= MOST_PLANS:
                    self._plans.clear()
                self._plans[key] = plan
            args = read
        results = plan.run(args, stream)
        if is_new and size is None and stream is None and block_size == BLOCK:
            plan.remember(tuple(args))
        return self._given_back(results)

    def _given_back(self, results):
        if self.no_return:
            return None
        return results[0] if len(results) == 1 and not self.return_tuple else tuple(results)


ElementwiseKernel._call_quickly()
