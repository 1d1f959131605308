"""Complex numbers of C text: those of CuPy's ``complex<T>`` and of CUDA's cuComplex.h."""

from __future__ import annotations

import ast

import numpy as np

from ..._jit.desugar import Known
from .arithmetic import combined
from .numbers import Number, common, is_complex, part_of

_MATH = {
    "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power",
}  # fmt: skip
_PARTS = {"real", "imag", "conj", "norm", "abs", "arg"}
# What cuComplex.h calls it, without the f of single precision.
_CU = {
    "cuCreal": "real", "cuCimag": "imag", "cuConj": "conj", "cuCabs": "abs", "cuCadd": "+", "cuCsub": "-",
    "cuCmul": "*", "cuCdiv": "/",
}  # fmt: skip
UNKNOWN = object()


def made(body, dtype, real, imag, place):
    """The complex Number of two parts."""
    part = part_of(dtype)
    nodes = [body.converted(v, part, place) for v in (real, imag)]
    built = ast.Call(func=Known(id="complex", ctx=ast.Load()), args=nodes, keywords=[])
    return Number(body.call_known(getattr(np, dtype), [body.placed(built, place)], place), dtype)


def member(body, place, v, name):
    """A part of a complex Number by its name."""
    part = part_of(v.dtype)
    if name in ("real", "imag", "abs"):
        function = np.abs if name == "abs" else getattr(np, name)
        return Number(body.call_known(function, [v.node], place), part)
    if name == "conj":
        return Number(body.call_known(np.conj, [v.node], place), v.dtype)
    kept = body.fresh("z")
    body.assign(kept, v.node, place)
    again = Number(body.read(kept, place), v.dtype)
    x, y = (member(body, place, again, n) for n in ("real", "imag"))
    if name == "arg":
        return Number(body.call_known(np.arctan2, [y.node, x.node], place), part)
    return combined(
        body, "+", combined(body, "*", x, x, place), combined(body, "*", y, y, place), place
    )


def call(body, place, name, values):
    """The Number of a call of a complex function, or UNKNOWN."""
    if (
        name in ("make_cuDoubleComplex", "make_cuFloatComplex", "make_cuComplex")
        and len(values) == 2
    ):
        return made(body, "complex128" if "Double" in name else "complex64", *values, place)
    if name in ("cuComplexDoubleToFloat", "cuComplexFloatToDouble") and len(values) == 1:
        to = "complex64" if name.endswith("ToFloat") else "complex128"
        return Number(body.converted(values[0], to, place), to)
    plain = name.removesuffix("f") if name[:3] in ("cuC",) else name
    if plain == "cuCfma" and len(values) == 3:
        product = combined(body, "*", values[0], values[1], place)
        return combined(body, "+", product, values[2], place)
    op = _CU.get(plain, name)
    if op in ("+", "-", "*", "/") and len(values) == 2:
        return combined(body, op, *values, place)
    if not any(is_complex(v.dtype) for v in values):
        return UNKNOWN
    if op in _PARTS and len(values) == 1:
        return member(body, place, values[0], op)
    if name in _MATH and len(values) == (2 if name == "pow" else 1):
        dtype = values[0].dtype if len(values) == 1 else common(values[0].dtype, values[1].dtype)
        nodes = [body.converted(v, dtype, place) for v in values]
        return Number(body.call_known(getattr(np, _MATH[name]), nodes, place), dtype)
    return UNKNOWN
