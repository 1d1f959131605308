"""``ScanKernel``: prefix sums by C text, as raw kernels over pieces whose number follows from the size alone."""

from __future__ import annotations

import numpy as np

from .arguments import place_of
from .kernels import RawModule
from .typed import C_NAMES, Typed, is_number, laid_out, readable, typedefs

_PIECES, _BLOCK = 1024, 64  # pieces at most, each scanned by one thread


class ScanKernel(Typed):
    """A kernel that combines each element with all before it, by C text.

    Parameters
    ----------
    in_params, out_params : str
        As of `ElementwiseKernel`; arrays are one-dimensional.
    input_expr : str
        C expression of an element, ``i`` of ``N``.
    scan_expr : str
        C expression of two of these, ``a`` and ``b``; associative.
    output_statement : str
        C text that assigns the results from ``item``, and ``prev_item`` without the element itself.
    neutral : str or number
        What changes nothing when it is combined.
    name : str
    scan_type : str, optional
        C type of what is combined; by default that of the first result.
    preamble, options : optional
        As of `ElementwiseKernel`.

    Raises
    ------
    ValueError
        For parameters that cannot be read.
    TypeError, CompileError
        At a call, as of `ElementwiseKernel`.

    Notes
    -----
    The order in which elements are combined follows from their number alone: results are the same on all devices.

    Examples
    --------
    >>> import unisono as un
    >>> before = un.ScanKernel("T x", "T y", "x", "a + b", "y = prev_item", "0", "before")
    >>> before(un.asarray([3, 1, 2]))
    array([0, 3, 4])
    """

    def __init__(
        self, in_params, out_params, input_expr, scan_expr, output_statement, neutral, name="scan_kernel",
        scan_type=None, preamble="", options=(),
    ):  # fmt: skip
        self._begin(in_params, out_params, name, preamble, options)
        names = [p.name for p in (*self._in, *self._out)]
        for n in ("a", "b", "item", "prev_item", "N"):
            if n in names:
                raise ValueError(
                    f"{name}: '{n}' is a word of scans; got a parameter of it; rename it"
                )
        if not self._out or any(p.is_raw for p in self._out):
            raise ValueError(
                f"{name}: a scan has results with an element each; got {out_params!r}; write 'T y'"
            )
        self._texts_of = input_expr, scan_expr, output_statement, neutral
        self._type = scan_type

    def _text(self, letters, types, kinds):
        given, scan, output, neutral = self._texts_of
        arguments, load = [], []
        for p, dtype, kind in zip(self._in, types, kinds, strict=False):
            c = C_NAMES[dtype]
            if p.is_raw:
                arguments.append(f"const {c}* {p.name}, ")
            elif kind == "number":
                arguments.append(f"{c} {p.name}_of, ")
                load.append(f"{c} {p.name} = {p.name}_of;")
            else:
                arguments.append(f"const {c}* {p.name}_of, ")
                load.append(f"{c} {p.name} = {p.name}_of[{'0' if kind == 'one' else 'i'}];")
        outs = [
            (C_NAMES[t], p.name) for p, t in zip(self._out, types[len(self._in) :], strict=True)
        ]
        kind = self._type or outs[0][0]
        results = "".join(f"{c}* {n}_of, " for c, n in outs)
        first, load = "".join(arguments), " ".join(load)
        piece = (
            "    long long _k = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    long long _begin = _k * _piece, _end = _begin + _piece < N ? _begin + _piece : N;\n"
        )
        return (
            f"{typedefs(letters)}{self.preamble}\n"
            f'extern "C" __global__ void {self.name}_pieces({first}{kind}* _sums, long long N, long long _piece) {{\n'
            f"{piece}    if (_begin < N) {{\n        {kind} a = {neutral};\n"
            f"        for (long long i = _begin; i < _end; i++) {{ {load} {kind} b = {given}; a = {scan}; }}\n"
            f"        _sums[_k] = a;\n    }}\n}}\n"
            f'extern "C" __global__ void {self.name}_sums({kind}* _sums, long long _pieces) {{\n'
            f"    {kind} a = {neutral};\n    for (long long i = 0; i < _pieces; i++) {{\n"
            f"        {kind} b = _sums[i];\n        _sums[i] = a;\n        a = {scan};\n    }}\n}}\n"
            f'extern "C" __global__ void {self.name}_final({first}{results}const {kind}* _sums, long long N, '
            f"long long _piece) {{\n{piece}    if (_begin < N) {{\n        {kind} a = _sums[_k];\n"
            f"        for (long long i = _begin; i < _end; i++) {{\n            {load}\n"
            f"            {kind} b = {given};\n            {kind} prev_item = a;\n            {kind} item = {scan};\n"
            f"            a = item;\n            {' '.join(f'{c} {n} = {n}_of[i];' for c, n in outs)}\n"
            f"            {output};\n            {' '.join(f'{n}_of[i] = {n};' for _, n in outs)}\n        }}\n    }}\n}}\n"
        )

    def __call__(self, *args, stream=None):
        """Scan the elements.

        Parameters
        ----------
        *args : array or number
            The arguments, and the results where they exist already.
        stream : unisono.cuda.Stream, optional

        Returns
        -------
        ndarray or tuple of ndarray
        """
        import unisono as un

        count = len(self._in)
        if len(args) not in (count, count + len(self._out)):
            self._wrong_count(args)
        args = [readable(a) for a in args]
        device = place_of(args)
        letters = self._bound(args)
        types = self._types(letters)
        whole = [
            a for p, a in zip((*self._in, *self._out), args, strict=False) if not p.is_raw and not is_number(a)
        ]  # fmt: skip
        shape = np.broadcast_shapes(*(tuple(a.shape) for a in whole)) if whole else ()
        if len(shape) != 1:
            raise ValueError(
                f"{self.name}: a scan goes along one axis; got shape {shape}; give arrays of one axis"
            )
        given, kinds = [], []
        for p, dtype, a in zip(self._in, types, args, strict=False):
            is_one = not is_number(a) and a.size == 1 and shape != (1,)
            kinds.append(
                "raw" if p.is_raw else "number" if is_number(a) else "one" if is_one else ""
            )
            is_scalar = kinds[-1] == "number"
            to = None if p.is_raw or is_one else shape
            given.append(a if is_scalar else laid_out(a, dtype, to, device).reshape(-1))
        results = args[count:] or [un.empty(shape, t, device=device) for t in types[count:]]
        for p, t, r in zip(self._out, types[count:], results, strict=True):
            if r.dtype.name != t or tuple(r.shape) != shape:
                raise TypeError(
                    f"{self.name}: the result '{p.name}' is {t} of shape {shape}; got {r.dtype.name} of shape "
                    f"{tuple(r.shape)}; leave it out, or give such an array"
                )
        if shape[0]:
            self._scan(types, tuple(kinds), letters, given, results, device, stream)
        return results[0] if len(results) == 1 else tuple(results)

    def _scan(self, types, kinds, letters, given, results, device, stream):
        import unisono as un

        found = self._texts.get((types, kinds))
        if found is None:
            module = RawModule(code=self._text(letters, types, kinds), options=self.options)
            found = self._texts[types, kinds] = module
        first, between, last = (
            found.get_function(f"{self.name}_{w}") for w in ("pieces", "sums", "final")
        )
        kind = between._function().parameters[0][0].base
        n = results[0].size
        piece = max(-(-n // _PIECES), 16)
        pieces = -(-n // piece)
        sums = un.empty(pieces, kind, device=device)
        grid = -(-pieces // _BLOCK)
        own = [laid_out(r, r.dtype.name, None, device) for r in results]
        first(grid, _BLOCK, (*given, sums, n, piece), stream=stream)
        between(1, 1, (sums, pieces), stream=stream)
        last(grid, _BLOCK, (*given, *own, sums, n, piece), stream=stream)
        for r, o in zip(results, own, strict=True):
            if r is not o:
                r[...] = o
